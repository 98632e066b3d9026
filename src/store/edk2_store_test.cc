#include "store/edk2_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

#include "base/byte_writer.h"
#include "store/edk2_check.h"
#include "store/edk2_ftw.h"
#include "store/edk2_image.h"
#include "store/open_store.h"

namespace efivarium::store {
namespace {

using base::Access;
using testing::ElementsAre;
using testing::SizeIs;

const Variable kFirst = make_variable(u"First", 10, 1);
const Variable kSecond = make_variable(u"Second", 20, 2);
const Variable kThird = make_variable(u"Third", 30, 3);

Result<std::unique_ptr<Edk2Store>> open(const Edk2Image& image, Access access) {
  return Edk2Store::open(image.device(), access, kTinyLayouts);
}

std::vector<FindingKind> kinds_of(const Bytes& bytes) {
  base::MemoryDevice device(bytes);
  std::vector<FindingKind> kinds;
  const auto report = check_store(device, kTinyLayouts);
  EXPECT_TRUE(report);
  for (const Finding& finding : report->findings) kinds.push_back(finding.kind);
  return kinds;
}

// A variable whose data is a record, aligned as one.
Variable holder_of(const Variable& inner) {
  Variable holder = kSecond;
  holder.data = serialize_record(inner, kStateAdded, StoreKind::kAuthenticated);
  holder.data.insert(holder.data.begin(), 2, 0);
  EXPECT_EQ((60 + holder.key.name.stored_size_bytes() + 2) % 4, 0U);
  return holder;
}

// Damaged: refused for writing with the offset, read as far as it is sure, found, and mended.
void expect_damage(const Edk2Image& image, FindingKind kind, std::uint64_t offset,
                   std::size_t readable, std::size_t mended) {
  const auto writer = open(image, Access::kReadWrite);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code(), Code::kCorrupt);
  EXPECT_EQ(writer.error().offset(), offset);
  const auto reader = open(image, Access::kReadOnly);
  ASSERT_TRUE(reader);
  EXPECT_THAT(*(*reader)->load(), SizeIs(readable));
  EXPECT_THAT((*reader)->problems(), SizeIs(1));
  EXPECT_THAT(kinds_of(image.bytes()), testing::Contains(kind));

  base::MemoryDevice device(image.bytes());
  ASSERT_TRUE(repair_store(device, kTinyLayouts));
  EXPECT_THAT(kinds_of(device.bytes()), testing::IsEmpty());
  const auto again = Edk2Store::open(std::make_unique<base::MemoryDevice>(device.bytes()),
                                     Access::kReadWrite, kTinyLayouts);
  ASSERT_TRUE(again);
  EXPECT_THAT(*(*again)->load(), SizeIs(mended));
}

TEST(Edk2Damage, UnknownState) {
  const Edk2Image image = Edk2Image().add(kFirst, kStateAdded).add(kSecond, 0x12);
  Edk2Image with_more = image;
  const std::uint64_t offset = image.last_offset();
  with_more.add(kThird, kStateAdded);
  expect_damage(with_more, FindingKind::kDamagedRecord, offset, 1, 2);
}

TEST(Edk2Damage, NameSizeOddZeroOrHuge) {
  for (const std::uint8_t size : Bytes{0x00, 0x02, 0x0D, 0xFE}) {
    Edk2Image image =
        Edk2Image().add(kFirst, kStateAdded).add(kSecond, kStateAdded).patch_last(36, size);
    if (size == 0xFE) image.patch_last(38, 0xFF);
    const std::uint64_t offset = image.last_offset();
    expect_damage(image.add(kThird, kStateAdded), FindingKind::kDamagedRecord, offset, 1, 2);
  }
}

TEST(Edk2Damage, DataSizePastTheEnd) {
  Edk2Image image = Edk2Image().add(kFirst, kStateAdded).patch_last(43, 0x7F);
  expect_damage(image, FindingKind::kDamagedRecord, image.last_offset(), 0, 0);
}

TEST(Edk2Damage, DataOfNoSize) {
  Edk2Image image =
      Edk2Image().add(kFirst, kStateAdded).add(make_variable(u"E", 0, 0), kStateAdded);
  expect_damage(image, FindingKind::kDamagedRecord, image.last_offset(), 1, 1);
}

TEST(Edk2Damage, NameNotTerminatedOrWithANulInside) {
  for (const std::ptrdiff_t at : {60 + 2, 60 + 10}) {
    Edk2Image image = Edk2Image().add(kFirst, kStateAdded);
    image.patch_last(at, at == 62 ? 0 : 'x');
    expect_damage(image, FindingKind::kDamagedRecord, image.last_offset(), 0, 0);
  }
}

TEST(Edk2Damage, RecordsBehindABreakAreNotTakenForATornTail) {
  Edk2Image image =
      Edk2Image().add(kFirst, kStateAdded).add(kSecond, kStateAdded).patch_last(0, 0x00);
  const std::uint64_t offset = image.last_offset();
  expect_damage(image.add(kThird, kStateAdded), FindingKind::kDamagedRecord, offset, 1, 2);
}

// A variable may hold anything, a record too; cut while it is written it is a torn tail all the
// same.
TEST(Edk2Damage, RecordsInTheDataOfATornRecordAreNoDamage) {
  const Edk2Image image = Edk2Image().add(kFirst, kStateAdded).add(holder_of(kThird), kStateUnset);
  EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kInterruptedWrite));
  const auto store = open(image, Access::kReadWrite);
  ASSERT_TRUE(store);
  EXPECT_THAT(*(*store)->load(), ElementsAre(kFirst));
}

TEST(Edk2Damage, VolumeHeaderIsRebuilt) {
  const Edk2Image image = Edk2Image().add(kFirst, kStateAdded).patch(0x32, 0x00);
  EXPECT_EQ(open(image, Access::kReadOnly).error().code(), Code::kCorrupt);
  EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kVolumeHeader));
  base::MemoryDevice device(image.bytes());
  ASSERT_TRUE(repair_store(device, kTinyLayouts));
  EXPECT_EQ(device.bytes(), Edk2Image().add(kFirst, kStateAdded).bytes());
}

// The volume header says which layout it is, the records say of which kind they are.
TEST(Edk2Damage, StoreHeaderIsRebuilt) {
  for (const StoreKind kind : {StoreKind::kAuthenticated, StoreKind::kPlain}) {
    for (const std::size_t at : {0x48U, 0x48U + 16, 0x48U + 20, 0x48U + 21}) {
      const Edk2Image image = Edk2Image(kind).add(kFirst, kStateAdded).patch(at, 0x00);
      EXPECT_FALSE(open(image, Access::kReadOnly));
      EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kStoreHeader));
      base::MemoryDevice device(image.bytes());
      ASSERT_TRUE(repair_store(device, kTinyLayouts));
      EXPECT_EQ(device.bytes(), Edk2Image(kind).add(kFirst, kStateAdded).bytes());
    }
  }
}

TEST(Edk2Damage, BothHeadersAreTooMuch) {
  const Edk2Image image =
      Edk2Image().add(kFirst, kStateAdded).patch(0x32, 0x00).patch(0x48 + 20, 0x00);
  EXPECT_EQ(open(image, Access::kReadOnly).error().code(), Code::kCorrupt);
  EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kUnreadable));
  base::MemoryDevice device(image.bytes());
  EXPECT_FALSE(repair_store(device, kTinyLayouts));
  EXPECT_EQ(device.bytes(), image.bytes());
}

// Firmware takes such a record's sizes for zero, and so the list for ended.
TEST(Edk2Damage, AttributesAreErased) {
  Edk2Image image = Edk2Image().add(kFirst, kStateAdded).add(kSecond, kStateAdded);
  for (const std::ptrdiff_t at : {4, 5, 6, 7}) image.patch_last(at, 0xFF);
  const std::uint64_t offset = image.last_offset();
  expect_damage(image.add(kThird, kStateAdded), FindingKind::kDamagedRecord, offset, 1, 2);
}

// A variable may hold anything, a record too, and be damaged itself.
TEST(Edk2Damage, RecordsInTheDataOfADamagedOneAreNotTakenForVariables) {
  for (const std::ptrdiff_t damaged : {0, 2, 4}) {
    for (const bool with_more : {false, true}) {
      Edk2Image image = Edk2Image().add(kFirst, kStateAdded).add(holder_of(kThird), kStateAdded);
      for (int i = 0; i < (damaged == 4 ? 4 : 1); ++i) {
        image.patch_last(damaged + i, damaged == 4 ? 0xFF : 0x12);
      }
      if (with_more) image.add(make_variable(u"Behind", 7, 7), kStateAdded);
      base::MemoryDevice device(image.bytes());
      ASSERT_TRUE(repair_store(device, kTinyLayouts));
      const auto store = Edk2Store::open(std::make_unique<base::MemoryDevice>(device.bytes()),
                                         Access::kReadWrite, kTinyLayouts);
      ASSERT_TRUE(store);
      EXPECT_THAT(*(*store)->load(), SizeIs(with_more ? 2 : 1)) << damaged;
    }
  }
}

// Whatever byte is wrong, repair leaves a sound store, and all variables but the one that it was
// in.
TEST(Edk2Damage, OneWrongByteCostsOneVariableAtMost) {
  for (const StoreKind kind : {StoreKind::kAuthenticated, StoreKind::kPlain}) {
    const Edk2Image image =
        Edk2Image(kind).add(kFirst, kStateAdded).add(kSecond, kStateAdded).add(kThird, kStateAdded);
    for (std::size_t at = 0; at < kTinyLayouts.front().volume_length; ++at) {
      for (const unsigned wrong : {image.bytes()[at] ^ 0xFFU, image.bytes()[at] ^ 0x01U, 0U}) {
        Edk2Image damaged = image;
        damaged.patch(at, static_cast<std::uint8_t>(wrong));
        // A size may be wrong and the chain whole, for firmware too.
        if (kinds_of(damaged.bytes()).empty()) continue;
        base::MemoryDevice device(damaged.bytes());
        ASSERT_TRUE(repair_store(device, kTinyLayouts)) << at;
        EXPECT_THAT(kinds_of(device.bytes()), testing::IsEmpty()) << at;
        const auto store = Edk2Store::open(std::make_unique<base::MemoryDevice>(device.bytes()),
                                           Access::kReadWrite, kTinyLayouts);
        ASSERT_TRUE(store) << at;
        const auto left = (*store)->load();
        int missing = 0;
        for (const Variable& variable : {kFirst, kSecond, kThird}) {
          if (std::ranges::find(*left, variable) == left->end()) ++missing;
        }
        EXPECT_LE(missing, at < image.end_offset() ? 1 : 0) << at << " " << wrong;
      }
    }
  }
}

TEST(Edk2Damage, TruncatedFileIsRefused) {
  for (const std::size_t size : {0UL, 10UL, 0x60UL, 0x700UL, 0xEFFUL}) {
    Bytes bytes = Edk2Image().bytes();
    bytes.resize(size);
    EXPECT_FALSE(Edk2Store::open(std::make_unique<base::MemoryDevice>(bytes), Access::kReadOnly,
                                 kTinyLayouts));
  }
}

TEST(Edk2Damage, WorkingAreaIsSetUpAnew) {
  Edk2Image image = Edk2Image().add(kFirst, kStateAdded).patch(0x700, 0x00);
  EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kWorkingArea));
  auto device = image.device();
  const base::MemoryDevice* const medium = device.get();
  const auto store = Edk2Store::open(std::move(device), Access::kReadWrite, kTinyLayouts);
  ASSERT_TRUE(store);
  EXPECT_EQ(medium->bytes(), Edk2Image().add(kFirst, kStateAdded).bytes());
}

// A working area that wants the variables restored from a spare area that holds none.
TEST(Edk2Damage, RestoreFromWhatIsNoCopyIsRefused) {
  base::ByteWriter entry;
  entry.u8(0xFC)
      .fill(3, 0xFF)
      .guid(kFtwCallerGuid)
      .fill(4, 0xFF)
      .u64(1)
      .u64(0)
      .u8(0xFD)
      .fill(39, 0xFF);
  Edk2Image image = Edk2Image().add(kFirst, kStateAdded);
  for (std::size_t i = 0; i < entry.size(); ++i) image.patch(0x720 + i, entry.view()[i]);
  const auto writer = open(image, Access::kReadWrite);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code(), Code::kCorrupt);
  EXPECT_EQ(writer.error().offset(), 0x700U);
  EXPECT_THAT(*(*open(image, Access::kReadOnly))->load(), ElementsAre(kFirst));
  EXPECT_THAT(kinds_of(image.bytes()), ElementsAre(FindingKind::kWorkingArea));
  base::MemoryDevice device(image.bytes());
  ASSERT_TRUE(repair_store(device, kTinyLayouts));
  EXPECT_EQ(device.bytes(), Edk2Image().add(kFirst, kStateAdded).bytes());
}

TEST(Edk2Volume, NotFormattedIsNotDamaged) {
  for (const std::uint8_t fill : Bytes{0x00, 0xFF}) {
    const Bytes bytes(0x1000, fill);
    EXPECT_EQ(Edk2Store::open(std::make_unique<base::MemoryDevice>(bytes), Access::kReadOnly,
                              kTinyLayouts)
                  .error()
                  .code(),
              Code::kNotFormatted);
  }
}

// As a flash driver leaves it that was cut between the volume's header and the store's.
TEST(Edk2Volume, VolumeHeaderOverErasedBytesIsNotFormatted) {
  Bytes bytes = Edk2Image().bytes();
  std::fill_n(bytes.begin() + kVolumeHeaderSize, kTinyLayouts.front().store_size, kErased);
  EXPECT_EQ(
      Edk2Store::open(std::make_unique<base::MemoryDevice>(bytes), Access::kReadOnly, kTinyLayouts)
          .error()
          .code(),
      Code::kNotFormatted);
}

TEST(Edk2Volume, IsFoundBehindOtherThings) {
  Bytes bytes(0x3000, 0xAB);
  const Edk2Image image = Edk2Image().add(kFirst, kStateAdded);
  bytes.insert(bytes.end(), image.bytes().begin(), image.bytes().end());
  const auto store = Edk2Store::open(std::make_unique<base::MemoryDevice>(bytes),
                                     Access::kReadWrite, kTinyLayouts);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->volume().base, 0x3000U);
  EXPECT_TRUE((*store)->put(kSecond, Reclaim::kForbidden));
  EXPECT_THAT(*(*store)->load(), SizeIs(2));
}

// In a 4M image what a 2M image has as working and spare area is variables, which a guest may fill
// with anything.
TEST(Edk2Volume, DataThatLooksLikeAnotherLayoutsWorkingAreaIsData) {
  const Edk2Layout& small = *layout_by_name("ovmf-2m");
  Edk2Image image(StoreKind::kAuthenticated, *layout_by_name("ovmf-4m"));
  image.add(kFirst, kStateAdded);
  image.add(make_variable(u"Filler", 0x18000, 0), kStateAdded);
  Bytes forged = serialize_working_header(small.working_size);
  base::ByteWriter entry;  // written whole to the spare area, not copied back
  entry.u8(0xFC)
      .fill(3, 0xFF)
      .guid(kFtwCallerGuid)
      .fill(4, 0xFF)
      .u64(1)
      .u64(0)
      .u8(0xFD)
      .fill(39, 0xFF);
  forged.insert(forged.end(), entry.view().begin(), entry.view().end());
  for (std::size_t i = 0; i < forged.size(); ++i) image.patch(small.working_offset + i, forged[i]);
  Edk2Image other(StoreKind::kAuthenticated, small);
  for (std::size_t i = 0; i < 0x1000; ++i) image.patch(small.spare_offset + i, other.bytes()[i]);
  const auto store = Edk2Store::open(image.device(), Access::kReadOnly);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->volume().layout->name, "ovmf-4m");
  EXPECT_EQ((*store)->volume().source, 0U);
  EXPECT_THAT(*(*store)->load(), SizeIs(2));
}

TEST(Edk2Store, SpaceCountsLiveAndDeadRecords) {
  const auto store = open(Edk2Image().add(kFirst, kStateAdded), Access::kReadWrite);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->space().live, 84U);  // 60 + 12 + 10, aligned
  ASSERT_TRUE((*store)->put(make_variable(u"First", 11, 9), Reclaim::kForbidden));
  EXPECT_EQ((*store)->space().live, 84U);
  EXPECT_EQ((*store)->space().unreclaimed, 84U);
  ASSERT_TRUE((*store)->compact());
  EXPECT_EQ((*store)->space().unreclaimed, 0U);
  EXPECT_EQ((*store)->space().storage, 0x6B8U - 28);
}

TEST(Edk2Store, ARecordMayEndAtTheVeryEnd) {
  const auto store = open(Edk2Image(), Access::kReadWrite);
  ASSERT_TRUE(store);
  const std::size_t room = 0x6B8 - 28 - 60 - 4;
  const Variable largest = make_variable(u"L", room, 1);
  EXPECT_EQ((*store)->put(make_variable(u"L", room + 1, 1), Reclaim::kAllowed).error().code(),
            Code::kOutOfResources);
  ASSERT_TRUE((*store)->put(largest, Reclaim::kForbidden));
  EXPECT_EQ((*store)->space().live, (*store)->space().storage);
  EXPECT_THAT(*(*store)->load(), ElementsAre(largest));
  EXPECT_EQ((*store)->put(kFirst, Reclaim::kAllowed).error().code(), Code::kOutOfResources);
  EXPECT_TRUE((*store)->put(make_variable(u"L", room, 2), Reclaim::kAllowed));
}

TEST(Edk2Store, ReadOnlyWritesNothing) {
  std::vector<base::MemoryDevice::Step> log;
  auto device = Edk2Image().add(kFirst, kStateInTransition).patch(0xA0, 0x00).device();
  device->log_to(&log);
  const auto store = Edk2Store::open(std::move(device), Access::kReadOnly, kTinyLayouts);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->put(kSecond, Reclaim::kAllowed).error().code(), Code::kWriteProtected);
  EXPECT_EQ((*store)->remove(kFirst.key).error().code(), Code::kWriteProtected);
  EXPECT_EQ((*store)->compact().error().code(), Code::kWriteProtected);
  EXPECT_TRUE(log.empty());
}

TEST(Edk2Store, AfterAFailedWriteNothingMoreIsWritten) {
  for (int write = 1; write <= 3; ++write) {
    auto device = Edk2Image().add(kFirst, kStateAdded).device();
    base::MemoryDevice* const medium = device.get();
    const auto store = Edk2Store::open(std::move(device), Access::kReadWrite, kTinyLayouts);
    ASSERT_TRUE(store);
    medium->fail_write(write);
    EXPECT_FALSE((*store)->put(make_variable(u"First", 10, 7), Reclaim::kForbidden));
    const Bytes left = medium->bytes();
    EXPECT_EQ((*store)->put(kSecond, Reclaim::kForbidden).error().code(), Code::kDeviceError);
    EXPECT_EQ(medium->bytes(), left);
  }
}

// edk2's order after a reclaim: live variables, then those whose update was cut, promoted.
TEST(Edk2Store, ReclaimPromotesOrphansBehindTheOthers) {
  const auto store = open(Edk2Image()
                              .add(kFirst, kStateInTransition)
                              .add(kSecond, kStateAdded)
                              .add(kThird, kStateReplaced),
                          Access::kReadWrite);
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->compact());
  EXPECT_THAT(*(*store)->load(), ElementsAre(kSecond, kFirst));
}

TEST(Edk2Store, AnOldWritersHeaderWithoutDataIsSkipped) {
  const auto store = open(Edk2Image().add(kFirst, kStateHeaderValid).add(kSecond, kStateAdded),
                          Access::kReadWrite);
  ASSERT_TRUE(store);
  EXPECT_THAT(*(*store)->load(), ElementsAre(kSecond));
}

class CreateStore : public testing::Test {
 protected:
  CreateStore() {
    std::string pattern = testing::TempDir() + "efivarium-create-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CreateStore() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

// CRC-32 of Debian 12's OVMF_VARS.fd and OVMF_VARS_4M.fd (ovmf 2022.11-6+deb12u2).
TEST_F(CreateStore, IsByteForByteTheDistributionsTemplate) {
  struct Template {
    const char* layout;
    std::size_t size;
    unsigned long crc;
  };
  for (const Template& known :
       {Template{"ovmf-2m", 131072, 0x449d8c78}, {"ovmf-4m", 540672, 0x94df64cc}}) {
    const std::string path = folder_ + "/" + known.layout;
    ASSERT_TRUE(create_store(path, *layout_by_name(known.layout)));
    const auto bytes = base::read_file(path, known.size);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->size(), known.size);
    EXPECT_EQ(::crc32(0, bytes->data(), static_cast<unsigned>(bytes->size())), known.crc);
    EXPECT_EQ(create_store(path, *layout_by_name(known.layout)).error().to_errno(), EEXIST);
  }
}

TEST_F(CreateStore, EveryLayoutOpensAgain) {
  for (const Edk2Layout& layout : kEdk2Layouts) {
    const std::string path = folder_ + "/" + std::string(layout.name);
    ASSERT_TRUE(create_store(path, layout));
    const auto store = open_store(path, Access::kReadWrite);
    ASSERT_TRUE(store) << layout.name;
    ASSERT_TRUE((*store)->put(kFirst, Reclaim::kForbidden));
    EXPECT_EQ(std::filesystem::file_size(path), layout.file_size);
  }
}

TEST_F(CreateStore, OneWriterAtATimeBesideReaders) {
  const std::string path = folder_ + "/store";
  ASSERT_TRUE(create_store(path, *layout_by_name("ovmf-2m")));
  auto writer = open_store(path, Access::kReadWrite);
  ASSERT_TRUE(writer);
  EXPECT_EQ(open_store(path, Access::kReadWrite).error().code(), Code::kLocked);
  EXPECT_TRUE(open_store(path, Access::kReadOnly));
  writer->reset();
  EXPECT_TRUE(open_store(path, Access::kReadWrite));
}

}  // namespace
}  // namespace efivarium::store
