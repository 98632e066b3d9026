#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "efi/load_option.h"
#include "efi/path_values.h"
#include "efi/utf16.h"
#include "efivarium/load_option.h"

namespace efivarium {
namespace {

Bytes from_hex(std::string text) {
  std::erase(text, ' ');
  return efi::parse_bytes(text).value();
}

struct Row {
  int type, sub_type;
  const char* data;
  const char* text;
  const char* old_text;  // libefivar 37's
};

// Data and text as the specification lays them out (UEFI 2.10, 10.3 and 10.6); the older text as
// libefivar prints it.
const Row kRows[] = {
    {1, 1, "02 1f", "Pci(0x1F,0x2)", "Pci(0x1f,0x2)"},
    {1, 2, "03", "PcCard(0x3)", "PcCard(0x3)"},
    {1, 3, "0b000000 0000000100000000 ffff000100000000", "MemoryMapped(0xB,0x1000000,0x100FFFF)",
     "MemoryMapped(11,0x1000000,0x100ffff)"},
    {1, 4, "33221100554477668899aabbccddeeff", "VenHw(00112233-4455-6677-8899-AABBCCDDEEFF)",
     "VenHw(00112233-4455-6677-8899-aabbccddeeff)"},
    {1, 4, "33221100554477668899aabbccddeeff 01fe",
     "VenHw(00112233-4455-6677-8899-AABBCCDDEEFF,01FE)",
     "VenHw(00112233-4455-6677-8899-aabbccddeeff,01fe)"},
    {1, 4, "c5fa31cf4ec2d21185f300a0c93ec93b 80000000",
     "VenHw(CF31FAC5-C24E-11D2-85F3-00A0C93EC93B,80000000)", "EDD10(0x80)"},
    {1, 5, "10000000", "Ctrl(0x10)", "Ctrl(0x10)"},
    {1, 6, "0c a20c000000000000", "BMC(0xC,0xCA2)", "BMC(12,0xca2)"},
    {2, 1, "d041030a 00000000", "PciRoot(0x0)", "PciRoot(0x0)"},
    {2, 1, "d041080a 01000000", "PcieRoot(0x1)", "PcieRoot(0x1)"},
    {2, 1, "d0410406 00000000", "Floppy(0x0)", "Floppy(0x0)"},
    {2, 1, "d0410103 00000000", "Keyboard(0x0)", "Keyboard(0x0)"},
    {2, 1, "d0410105 02000000", "Serial(0x2)", "Serial(0x2)"},
    {2, 1, "d0410104 02000000", "ParallelPort(0x2)", "Acpi(0x040141d0,0x2)"},
    {2, 1, "d041150a 00000000", "Acpi(PNP0A15,0x0)", "Acpi(0x0a1541d0,0x0)"},
    {2, 1, "11223344 05000000", "Acpi(0x44332211,0x5)", "Acpi(0x44332211,0x5)"},
    {2, 2, "d041030a 01000000 d041080a 00 00 00", "AcpiEx(PNP0A03,PNP0A08,0x1,,,)", "AcpiEx(,,)"},
    {2, 2, "00000000 00000000 00000000 4100 55495500 4300", "AcpiEx(0,0,0x0,A,C,UIU)",
     "AcpiEx(A,C,UIU)"},
    {2, 3, "00010180", "AcpiAdr(0x80010100)", nullptr},
    {2, 3, "00010180 01010180", "AcpiAdr(0x80010100,0x80010101)", nullptr},
    {2, 4, "01000000", "AcpiPath(4,01000000)", nullptr},
    {3, 1, "01 00 0200", "Ata(Secondary,Master,0x2)", "Ata(1,0,2)"},
    {3, 2, "0300 0400", "Scsi(0x3,0x4)", "SCSI(3,4)"},
    {3, 3, "00000000 8877665544332211 0500000000000000", "Fibre(0x1122334455667788,0x5)",
     "Fibre(1122334455667788,5)"},
    {3, 4, "00000000 8877665544332201", "I1394(0122334455667788)", "I1394(0x122334455667788)"},
    {3, 5, "0b 01", "USB(0xB,0x1)", "USB(11,1)"},
    {3, 6, "10000000", "I2O(0x10)", "I2O(16)"},
    {3, 9,
     "01000000 33221100554477668899aabbccddeeff 0200000000000000 0300000000000000 "
     "0400000000000000",
     "Infiniband(0x1,00112233-4455-6677-8899-AABBCCDDEEFF,0x2,0x3,0x4)", nullptr},
    {3, 10, "5347c1e0bef9d2119a0c0090273fc14d", "VenPcAnsi()", "VenPcAnsi()"},
    {3, 10, "9d9a49372f54894ca02635da142094e4 01000000", "UartFlowCtrl(Hardware)",
     "UartFlowControl(Hardware)"},
    {3, 10, "b4dd87d48b00d911afdc001083ffca4d 00000000 0100000000000000 0200000000000000 0000 0300",
     "SAS(0x1,0x2,0x3,NoTopology,0,0,0,0x0)", nullptr},
    {3, 10, "b4dd87d48b00d911afdc001083ffca4d 00000000 0100000000000000 0200000000000000 7202 0300",
     "SAS(0x1,0x2,0x3,SATA,External,Expanded,0x3,0x0)", nullptr},
    {3, 11, "525400123456 0000000000000000000000000000000000000000000000000000 01",
     "MAC(525400123456,0x1)", "MAC(525400123456,1)"},
    {3, 12, "c0a80002 c0a80001 0000 0000 0600 01 c0a800fe ffffff00",
     "IPv4(192.168.0.1,TCP,Static,192.168.0.2,192.168.0.254,255.255.255.0)", nullptr},
    {3, 12, "00000000 00000000 0000 0000 1100 00 00000000 00000000",
     "IPv4(0.0.0.0,UDP,DHCP,0.0.0.0,0.0.0.0,0.0.0.0)", nullptr},
    // Ports have no place in the text, nor has the shorter node of UEFI before 2.3.
    {3, 12, "00000000 00000000 5000 0000 0600 00 00000000 00000000",
     "Msg(12,0000000000000000500000000600000000000000000000)", nullptr},
    {3, 12, "00000000 00000000 0000 0000 0600 00", "Msg(12,000000000000000000000000060000)",
     nullptr},
    {3, 13,
     "00000000000000000000000000000001 20010db8000000000000000000000001 0000 0000 0600 01 40 "
     "00000000000000000000000000000000",
     "IPv6(2001:0DB8:0000:0000:0000:0000:0000:0001,TCP,StatelessAutoConfigure,"
     "0000:0000:0000:0000:0000:0000:0000:0001,0x40,0000:0000:0000:0000:0000:0000:0000:0000)",
     nullptr},
    {3, 14, "00000000 00c2010000000000 08 01 01", "Uart(115200,8,N,1)", "Uart(115200,8,N,1)"},
    {3, 14, "00000000 0000000000000000 00 00 00", "Uart(DEFAULT,DEFAULT,D,D)", nullptr},
    {3, 15, "ffff ffff ff ff ff", "UsbClass(0xFFFF,0xFFFF,0xFF,0xFF,0xFF)", nullptr},
    {3, 15, "8104 0200 08 06 50", "UsbMassStorage(0x481,0x2,0x6,0x50)", nullptr},
    {3, 15, "8104 0200 fe 01 50", "UsbDeviceFirmwareUpdate(0x481,0x2,0x50)", nullptr},
    {3, 16, "0100 3412 7856 4100 4200", "UsbWwid(0x1234,0x5678,0x1,\"AB\")", nullptr},
    {3, 17, "0b", "Unit(0xB)", "Unit(11)"},
    {3, 18, "0200 ffff 0000", "Sata(0x2,0xFFFF,0x0)", "Sata(2,65535,0)"},
    {3, 19, "0000 0208 0000000000000001 0100 69716e2e74",
     "iSCSI(iqn.t,0x1,0x0000000000000001,CRC32C,None,None,TCP)", nullptr},
    {3, 19, "0000 0810 0000000000000000 0000 61",
     "iSCSI(a,0x0,0x0000000000000000,None,CRC32C,"
     "CHAP_UNI,TCP)",
     nullptr},
    {3, 20, "0a00", "Vlan(10)", "Vlan(10)"},
    {3, 21, "00000000 0011223344556677 0000000000000001",
     "FibreEx(0x0011223344556677,0x0000000000000001)",
     "Fibre(0x0011223344556677,0x0000000000000001)"},
    {3, 22, "0011223344556677 0000000000000001 0000 0500",
     "SasEx(0x0011223344556677,0x0000000000000001,0x5,NoTopology,0,0,0)", nullptr},
    {3, 22, "0011223344556677 0000000000000001 0200 0500",
     "SasEx(0x0011223344556677,0x0000000000000001,0x5,SAS,Internal,Direct,0x1)", nullptr},
    {3, 23, "01000000 0025385a9150a1f3", "NVMe(0x1,F3-A1-50-91-5A-38-25-00)",
     "NVMe(0x1,00-25-38-5A-91-50-A1-F3)"},
    {3, 24, "", "Uri()", "Uri()"},
    {3, 24, "687474703a2f2f612c622f632829", "Uri(http://a,b/c())", "Uri(http://a,b/c())"},
    {3, 25, "0a 0b", "UFS(0xA,0xB)", "UFS(10,0xb)"},
    {3, 26, "0a", "SD(0xA)", "SD(10)"},
    {3, 27, "0011223344ff", "Bluetooth(0011223344FF)", nullptr},
    {3, 28, "6e65740000000000000000000000000000000000000000000000000000000000", "Wi-Fi(net)",
     nullptr},
    {3, 29, "01", "eMMC(0x1)", "eMMC(1)"},
    {3, 30, "001122334455 01", "BluetoothLE(001122334455,0x1)", nullptr},
    {3, 31, "00 08080808000000000000000000000000 01010101000000000000000000000000",
     "Dns(8.8.8.8,1.1.1.1)", nullptr},
    {3, 31, "01 20010db8000000000000000000000001", "Dns(2001:0DB8:0000:0000:0000:0000:0000:0001)",
     nullptr},
    {3, 32, "33221100554477668899aabbccddeeff", "NVDIMM(00112233-4455-6677-8899-AABBCCDDEEFF)",
     "NVDIMM(00112233-4455-6677-8899-aabbccddeeff)"},
    {3, 33, "0102", "Msg(33,0102)", "Msg(33,0102)"},
    {4, 1, "01000000 0008000000000000 0000100000000000 44332211665588779 9aabbccddeeff00 02 02",
     "HD(1,GPT,11223344-5566-7788-99AA-BBCCDDEEFF00,0x800,0x100000)",
     "HD(1,GPT,11223344-5566-7788-99aa-bbccddeeff00,0x800,0x100000)"},
    {4, 1, "01000000 3f00000000000000 0004000000000000 01000000000000000000000000000000 01 01",
     "HD(1,MBR,0x00000001,0x3F,0x400)", "HD(1,MBR,0x1,0x3f,0x400)"},
    {4, 1, "02000000 0000000000000000 0100000000000000 00000000000000000000000000000000 00 00",
     "HD(2,0,0,0x0,0x1)", "HD(2,0,00000000000000000000000000000000,0x0,0x1)"},
    {4, 2, "0a000000 0100000000000000 0200000000000000", "CDROM(0xA,0x1,0x2)", "CDROM(10,0x1,0x2)"},
    {4, 3, "33221100554477668899aabbccddeeff", "VenMedia(00112233-4455-6677-8899-AABBCCDDEEFF)",
     nullptr},
    {4, 4, "5c00450046004900 0000", "\\EFI", "File(\\EFI)"},
    {4, 4, "5c003dd800de2c00 0000", "\\\xF0\x9F\x98\x80,", "File(\\\xF0\x9F\x98\x80,)"},
    {4, 4, "5c0000d8 0000", "\\\xED\xA0\x80", nullptr},
    // These would not be read back as what they are.
    {4, 4, "0000", "MediaPath(4,0000)", nullptr},
    {4, 4, "61002f006200 0000", "MediaPath(4,61002f0062000000)", nullptr},
    {4, 4, "5000630069002800310029000000", "MediaPath(4,5000630069002800310029000000)", nullptr},
    {4, 4, "6100", "MediaPath(4,6100)", nullptr},
    {4, 5, "33221100554477668899aabbccddeeff", "Media(00112233-4455-6677-8899-AABBCCDDEEFF)",
     nullptr},
    {4, 6, "33221100554477668899aabbccddeeff", "FvFile(00112233-4455-6677-8899-AABBCCDDEEFF)",
     nullptr},
    {4, 7, "33221100554477668899aabbccddeeff", "Fv(00112233-4455-6677-8899-AABBCCDDEEFF)",
     "FvVol(00112233-4455-6677-8899-aabbccddeeff)"},
    {4, 8, "00000000 0100000000000000 0200000000000000", "Offset(0x1,0x2)", "Offset(0x1,0x2)"},
    {4, 8, "01000000 0100000000000000 0200000000000000",
     "MediaPath(8,0100000001000000000000000200000000000000)", "Offset(0x1,0x2)"},
    {4, 9, "0000100000000000 ffff1f0000000000 5a53ab77fc454b625560f7b281d1f96e 0100",
     "VirtualDisk(0x100000,0x1FFFFF,1)", nullptr},
    {4, 9, "0000100000000000 ffff1f0000000000 33221100554477668899aabbccddeeff 0000",
     "RamDisk(0x100000,0x1FFFFF,0,00112233-4455-6677-8899-AABBCCDDEEFF)", nullptr},
    {5, 1, "0200 0100 4469736b00", "BBS(HD,Disk,0x1)", "BBS(HD,Disk,0x1)"},
    {5, 1, "8000 0000 4e657400", "BBS(0x80,Net,0x0)", "BBS(128,Net,0x0)"},
    {1, 1, "02", "HardwarePath(1,02)", nullptr},
    {1, 1, "021f00", "HardwarePath(1,021f00)", nullptr},
    {5, 7, "", "BbsPath(7)", nullptr},
    {9, 200, "0a0b", "Path(9,200,0a0b)", "Path(9,200,0a0b)"},
    {0, 0, "", "Path(0,0)", nullptr},
};

DevicePathNode node_of(const Row& row) {
  return {static_cast<std::uint8_t>(row.type), static_cast<std::uint8_t>(row.sub_type),
          from_hex(row.data)};
}

TEST(DevicePath, NodesAreWrittenAndReadInTheirForms) {
  for (const Row& row : kRows) {
    const DevicePathNode node = node_of(row);
    EXPECT_EQ(to_text(node), row.text);
    if (row.old_text != nullptr) {
      EXPECT_EQ(to_text(node, PathStyle::kLibefivar37), row.old_text);
    }
    const auto parsed = parse_path_text(row.text);
    ASSERT_TRUE(parsed) << row.text << ": " << parsed.error().message();
    EXPECT_EQ(parsed->nodes, std::vector{node}) << row.text;
  }
}

TEST(DevicePath, TextOfOtherStylesLeadsToTheSameBytes) {
  for (const auto& [other, usual] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Sata(2,65535,0)", "Sata(0x2,0xFFFF,0x0)"},
           {"sata(2,0xffff)", "Sata(0x2,0xFFFF,0x0)"},
           {"SCSI(3,4)", "Scsi(0x3,0x4)"},
           {"FvVol(00112233-4455-6677-8899-aabbccddeeff)",
            "Fv(00112233-4455-6677-8899-AABBCCDDEEFF)"},
           {"Ramdisk(1,2,0,00112233-4455-6677-8899-aabbccddeeff)",
            "RamDisk(0x1,0x2,0,00112233-4455-6677-8899-AABBCCDDEEFF)"},
           {"UartFlowControl(XonXoff)", "UartFlowCtrl(XonXoff)"},
           {"MacAddr(525400123456,1)", "MAC(525400123456,0x1)"},
           {"MAC(525400123456)", "MAC(525400123456,0x0)"},
           {"iSCSI(a,1,0x0000000000000000,CRC32,None,None)",
            "iSCSI(a,0x1,0x0000000000000000,CRC32C,None,None,TCP)"},
           {"IPv4(10.0.0.1)", "IPv4(10.0.0.1,0x0,DHCP,0.0.0.0,0.0.0.0,0.0.0.0)"},
           {"HD(1,GPT,11223344-5566-7788-99aa-bbccddeeff00)",
            "HD(1,GPT,11223344-5566-7788-99AA-BBCCDDEEFF00,0x0,0x0)"},
           {"CDROM(1)", "CDROM(0x1,0x0,0x0)"},
           {"BBS(HD,x)", "BBS(HD,x,0x0)"},
           {"AcpiExp(PNP0A03,0,U)", "AcpiEx(PNP0A03,0,0x0,,,U)"},
           {"EDD10(0x80)", "VenHw(CF31FAC5-C24E-11D2-85F3-00A0C93EC93B,80000000)"},
           {"File(\\EFI\\a b,c.efi)", "\\EFI\\a b,c.efi"},
           {"Ata(0x1)", "Ata(Primary,Master,0x1)"},
           {"Ata(1,0,2)", "Ata(Secondary,Master,0x2)"},
           {"PciRoot(0)/Pci(2,1)/\\EFI\\BOOT(1)\\x.efi",
            "PciRoot(0x0)/Pci(0x2,0x1)/\\EFI\\BOOT(1)\\x.efi"},
           {"PciRoot(0),PciRoot(1)/a,b", "PciRoot(0x0),PciRoot(0x1)/a,b"},
           {"", ""},
       }) {
    const auto path = parse_path_text(other);
    ASSERT_TRUE(path) << other;
    EXPECT_EQ(to_text(*path), usual);
  }
}

TEST(DevicePath, WrongTextIsToldWithItsPlace) {
  for (const auto& [text, offset] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"Pci(x,0)", 0},
           {"Pci(0,0)/Pci(0x100,0)", 9},
           {"Pci(0,0)//Pci(0,0)", 9},
           {"Pci(0,0)/", 9},
           {"Pci(0,0,0)", 0},
           {"HD(1,GPT,zz)", 0},
           {"MAC(123)", 0},
           {"Dns(1.1.1.1,::1)", 0},
           {"Uart(1,2,Q,1)", 0},
           {"Msg(33,0)", 0},
           {"Path(256,0)", 0},
           {"a\xff", 0},
       }) {
    const auto path = parse_path_text(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().code(), Code::kInvalidParameter) << text;
    EXPECT_EQ(path.error().offset(), offset) << text;
  }
}

TEST(DevicePath, WhateverBytesItHasANodeComesBack) {
  std::mt19937 random(1);
  const auto byte = [&] { return static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0); };
  for (int i = 0; i < 20000; ++i) {
    const Row& row = kRows[random() % std::size(kRows)];
    DevicePathNode node = node_of(row);
    for (int changes = static_cast<int>(random() % 4); changes > 0 && !node.data.empty();
         --changes) {
      node.data[random() % node.data.size()] = byte();
    }
    if (random() % 8 == 0) node.data.push_back(byte());
    if (random() % 8 == 0 && !node.data.empty()) node.data.pop_back();
    DevicePath path;
    path.nodes = {node, node_of(kRows[0])};
    const auto parsed = parse_path_text(to_text(path));
    ASSERT_TRUE(parsed) << to_text(path);
    EXPECT_EQ(*parsed, path) << to_text(path);
  }
}

TEST(DevicePath, InstancesAreParted) {
  const Bytes bytes = from_hex("0101060000017f010400 010106000002 7fff0400 aabb");
  const auto path = DevicePath::parse(bytes);
  ASSERT_TRUE(path);
  EXPECT_EQ(to_text(*path), "Pci(0x1,0x0),Pci(0x2,0x0)");
  EXPECT_EQ(parse_path_text(to_text(*path)), *path);
  EXPECT_EQ(path->serialize(), Bytes(bytes.begin(), bytes.end() - 2));
}

TEST(DevicePath, MalformedBytesAreToldWithTheirPlace) {
  for (const auto& [bytes, offset] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"", 0},
           {"0101", 2},
           {"01010600 0001", 6},      // no end
           {"01010000 7fff0400", 0},  // CVE-2026-6862: shorter than its header
           {"010106000001 01010300 7fff0400", 6},
           {"01010a00 0001", 0},  // longer than what is left
           {"7f010400", 4},
           {"010106000001 7fff0500 00", 6},  // the end has data
       }) {
    const auto path = DevicePath::parse(from_hex(bytes));
    ASSERT_FALSE(path) << bytes;
    EXPECT_EQ(path.error().code(), Code::kCorrupt) << bytes;
    EXPECT_EQ(path.error().offset(), offset) << bytes;
  }
}

TEST(LoadOption, AllOfItComesBack) {
  // Active, two paths as some firmware writes them, "D\u00e9b", and data of an odd length.
  const Bytes bytes = from_hex(
      "01010000 1400 4400e9006200 0000 010106000001 7fff0400 010106000002 7fff0400 57494e");
  const auto option = LoadOption::parse(bytes);
  ASSERT_TRUE(option);
  EXPECT_EQ(option->attributes, LoadOption::kActive | LoadOption::kApplication);
  EXPECT_EQ(option->description, "D\u00e9b");
  ASSERT_EQ(option->paths.size(), 2U);
  EXPECT_EQ(to_text(option->paths[1]), "Pci(0x2,0x0)");
  EXPECT_EQ(option->optional_data, from_hex("57494e"));
  EXPECT_EQ(option->serialize(), bytes);
  LoadOption bad = *option;
  bad.description = std::string("a\0b", 3);
  EXPECT_EQ(bad.serialize().error().code(), Code::kInvalidParameter);
  bad = *option;
  bad.paths[0].nodes[0].data.resize(65000);
  bad.paths[1].nodes[0].data.resize(1000);
  EXPECT_EQ(bad.serialize().error().code(), Code::kInvalidParameter);
}

TEST(LoadOption, MalformedBytesAreToldWithTheirPlace) {
  for (const auto& [bytes, offset] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"", 0},
           {"01000000 04", 4},
           {"01000000 0400", 6},
           {"01000000 0400 4400", 8},                         // no end of the description
           {"01000000 0500 0000 7fff0400", 8},                // longer than what is left
           {"01000000 0000 0000 7fff0400", 8},                // no path
           {"01000000 0600 0000 010106000001 7fff0400", 14},  // no end of the path
           {"01000000 0800 0000 01010000 7fff0400", 8},
           {"01000000 0600 0000 7fff0400 0101", 14},  // another that is none
       }) {
    const auto option = LoadOption::parse(from_hex(bytes));
    ASSERT_FALSE(option) << bytes;
    EXPECT_EQ(option.error().code(), Code::kCorrupt) << bytes;
    EXPECT_EQ(option.error().offset(), offset) << bytes;
  }
}

TEST(Utf16, LoneSurrogatesStay) {
  const std::u16string units = {u'a', 0xD83D, 0xDE00, 0xDE00, 0xD83D, u'\u00e9', u'\u4e2d'};
  const std::string text = efi::to_wtf8(units);
  EXPECT_EQ(text, "a\xF0\x9F\x98\x80\xED\xB8\x80\xED\xA0\xBD\xC3\xA9\xE4\xB8\xAD");
  EXPECT_EQ(efi::from_wtf8(text), units);
  for (const char* const bad : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80",
                                "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(efi::from_wtf8(bad)) << bad;
  }
  EXPECT_EQ(efi::from_wtf8("ab\xff").error().offset(), 2U);
}

}  // namespace
}  // namespace efivarium
