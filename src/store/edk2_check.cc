#include "store/edk2_check.h"

#include <algorithm>
#include <array>

#include "store/edk2_ftw.h"
#include "store/edk2_record.h"

namespace efivarium::store {
namespace {

constexpr std::array<std::string_view, 9> kKindTexts = {
    "unreadable", "volume_header",     "store_header",        "damaged_record", "skipped_records",
    "duplicate",  "interrupted_write", "interrupted_reclaim", "working_area"};

struct Headers {
  Result<void> volume;
  Result<StoreKind> store;
};

// At the start of the file.
Result<Headers> check_headers(base::Device& device, const Edk2Layout& layout) {
  EFIVARIUM_TRY(const Bytes bytes, device.read_bytes(0, kVolumeHeaderSize + kStoreHeaderSize));
  const ByteView view(bytes);
  return Headers{check_volume_header(view.first(kVolumeHeaderSize), 0, layout),
                 parse_store_header(view.subspan(kVolumeHeaderSize), kVolumeHeaderSize, layout)};
}

// The layout of a volume one of whose two headers is damaged: the other one and the working area
// tell it.
const Edk2Layout* guess_layout(base::Device& device, Edk2Layouts layouts) {
  const Edk2Layout* guess = nullptr;
  for (const Edk2Layout& layout : layouts) {
    if (!base::inside(0, layout.volume_length, device.size())) continue;
    const auto headers = check_headers(device, layout);
    if (!headers || (!headers->volume && !headers->store)) continue;
    // Layouts that share the size of the store differ in where the working area is.
    const auto working = device.read_bytes(layout.working_offset, kWorkingHeaderSize);
    if (!working || *working != serialize_working_header(layout.working_size)) continue;
    if (guess == nullptr || layout.file_size == device.size()) guess = &layout;
  }
  return guess;
}

// Read as the other kind, a list of records ends with its first.
StoreKind guess_kind(ByteView store) {
  const auto end = [&](StoreKind kind) { return walk_records(store, 0, kind).end; };
  return end(StoreKind::kPlain) > end(StoreKind::kAuthenticated) ? StoreKind::kPlain
                                                                 : StoreKind::kAuthenticated;
}

// A store as far as it can be read, with what was found on the way.
struct Survey {
  Report report;
  Edk2Volume volume;
  bool working_area_is_lost = false;  // it tells to restore from what is no copy
  Bytes store;
  std::vector<Edk2Record> whole;  // visible, in the store's order; views into the bytes above
};

void add(Survey& survey, FindingKind kind, std::uint64_t offset, std::string text) {
  survey.report.findings.push_back({kind, offset, std::move(text)});
}

Result<void> locate(base::Device& device, Edk2Layouts layouts, Survey& survey) {
  const Result<Edk2Volume> found = find_volume(device, layouts);
  if (found) {
    survey.volume = *found;
    return {};
  }
  const Edk2Layout* layout = guess_layout(device, layouts);
  if (layout == nullptr) return std::unexpected(found.error());
  survey.volume.layout = layout;
  EFIVARIUM_TRY(const Headers headers, check_headers(device, *layout));
  if (!headers.volume) add(survey, FindingKind::kVolumeHeader, 0, headers.volume.error().text());
  if (!headers.store) {
    add(survey, FindingKind::kStoreHeader, kVolumeHeaderSize, headers.store.error().text());
    EFIVARIUM_TRY(const Bytes store, device.read_bytes(kVolumeHeaderSize, layout->store_size));
    survey.volume.kind = guess_kind(store);
  } else {
    survey.volume.kind = *headers.store;
  }
  return {};
}

Result<void> survey_working_area(base::Device& device, Survey& survey) {
  EFIVARIUM_TRY(const WorkingState state, working_state(device, survey.volume));
  const std::uint64_t offset = survey.volume.working_offset();
  switch (state) {
    case WorkingState::kIdle:
    case WorkingState::kUnused:
      break;
    case WorkingState::kPending:
      add(survey, FindingKind::kInterruptedReclaim, offset,
          "a rewrite of the variables was cut short; the whole copy is in the spare area");
      break;
    case WorkingState::kUnfinished:
      add(survey, FindingKind::kInterruptedReclaim, offset,
          "a rewrite of the variables was begun and not carried out");
      break;
    case WorkingState::kLost:
      survey.working_area_is_lost = true;
      [[fallthrough]];
    case WorkingState::kCrowded:
    case WorkingState::kInvalid:
      add(survey, FindingKind::kWorkingArea, offset, "the fault-tolerant-write area is not valid");
      break;
  }
  return {};
}

// Walks the chain, and on behind each break.
std::vector<Edk2Record> survey_records(Survey& survey) {
  const std::uint64_t origin = survey.volume.source + kVolumeHeaderSize;
  const ByteView store(survey.store);
  Edk2Walk walk = walk_records(store, origin, survey.volume.kind);
  while (walk.damage) {
    add(survey, FindingKind::kDamagedRecord, walk.damage->offset().value_or(origin + walk.end),
        walk.damage->text());
    const auto next = find_behind_break(store, walk.end, survey.volume.kind);
    if (!next) {
      add(survey, FindingKind::kSkippedRecords, origin + walk.end,
          std::to_string(store.size() - walk.end) + " bytes behind it hold no whole variable");
      break;
    }
    add(survey, FindingKind::kSkippedRecords, origin + walk.end,
        std::to_string(*next - walk.end) + " bytes are skipped; variables go on behind them");
    // The rest, walked as if the store began just before it.
    const std::uint32_t shift = *next - kStoreHeaderSize;
    Edk2Walk rest = walk_records(store.subspan(shift), origin + shift, survey.volume.kind);
    for (Edk2Record& record : rest.records) {
      record.offset += shift;
      record.end += shift;
      walk.records.push_back(record);
    }
    walk.end = rest.end + shift;
    walk.damage = rest.damage;
    walk.tail_is_erased = rest.tail_is_erased;
  }
  if (!walk.damage && !walk.tail_is_erased) {
    add(survey, FindingKind::kInterruptedWrite, origin + walk.end,
        "what a cut write left behind the last variable");
  }
  return std::move(walk.records);
}

void survey_copies(Survey& survey, std::vector<Edk2Record> records) {
  Edk2Walk walk;
  walk.records = std::move(records);
  const Edk2View view = view_of(walk);
  const std::uint64_t origin = survey.volume.source + kVolumeHeaderSize;
  for (const std::size_t i : view.duplicates) {
    const Result<VariableKey> key = key_of(walk.records[i]);
    add(survey, FindingKind::kDuplicate, origin + walk.records[i].offset,
        "a second live copy of " + (key ? key->to_text() : std::string("a variable")));
  }
  for (const std::size_t i : view.visible) survey.whole.push_back(walk.records[i]);
}

Result<Survey> survey_store(base::Device& device, Edk2Layouts layouts) {
  Survey survey;
  EFIVARIUM_TRY(locate(device, layouts, survey));
  survey.report.layout = survey.volume.layout->name;
  EFIVARIUM_TRY(survey_working_area(device, survey));
  EFIVARIUM_TRY(survey.store, device.read_bytes(survey.volume.source + kVolumeHeaderSize,
                                                survey.volume.layout->store_size));
  survey_copies(survey, survey_records(survey));
  return survey;
}

bool has(const Report& report, FindingKind kind) {
  return std::ranges::find(report.findings, kind, &Finding::kind) != report.findings.end();
}

// In place: what of them is there is of no use, so that it does not matter how much a cut leaves.
Result<void> mend_headers(base::Device& device, Survey& survey) {
  const Edk2Volume& volume = survey.volume;
  if (has(survey.report, FindingKind::kVolumeHeader)) {
    EFIVARIUM_TRY(device.write(volume.base, serialize_volume_header(*volume.layout)));
  }
  if (has(survey.report, FindingKind::kStoreHeader)) {
    const Bytes header = serialize_store_header(*volume.layout, volume.kind);
    EFIVARIUM_TRY(device.write(volume.store_offset(), header));
    std::ranges::copy(header, survey.store.begin());
  }
  return device.sync();
}

// The store's header and whole variables, live, one behind the other.
Bytes rebuild(const Survey& survey) {
  Bytes image(survey.store.begin(), survey.store.begin() + kStoreHeaderSize);
  for (const Edk2Record& record : survey.whole) {
    image.resize((image.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment,
                 kErased);
    const std::size_t start = image.size();
    image.insert(image.end(), record.raw.begin(), record.raw.end());
    image[start + kStateOffset] = kStateAdded;
  }
  image.resize(survey.store.size(), kErased);
  return image;
}

}  // namespace

std::string_view to_text(FindingKind kind) { return kKindTexts[static_cast<std::size_t>(kind)]; }

Result<Report> check_store(base::Device& device, Edk2Layouts layouts) {
  Result<Survey> survey = survey_store(device, layouts);
  if (survey) return std::move(survey->report);
  if (survey.error().code() == Code::kSystem) return std::unexpected(survey.error());
  Report report;
  report.findings.push_back(
      {FindingKind::kUnreadable, survey.error().offset().value_or(0), survey.error().text()});
  return report;
}

Result<Report> repair_store(base::Device& device, Edk2Layouts layouts) {
  EFIVARIUM_TRY(Survey survey, survey_store(device, layouts));
  if (survey.report.sound()) return std::move(survey.report);
  EFIVARIUM_TRY(mend_headers(device, survey));
  if (survey.working_area_is_lost) EFIVARIUM_TRY(set_up_working_area(device, survey.volume));
  EFIVARIUM_TRY(recover_working_area(device, survey.volume));
  const Bytes image = rebuild(survey);
  if (image != survey.store) EFIVARIUM_TRY(write_fault_tolerant(device, survey.volume, image));
  return std::move(survey.report);
}

}  // namespace efivarium::store
