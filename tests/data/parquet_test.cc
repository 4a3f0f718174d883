#include <fstream>

#include "hearth/data/record_source.h"
#include "hearth/data/table_reader.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::data {
namespace {

using io::Json;
using Texts = std::vector<std::string>;

std::filesystem::path parquet(std::string_view name) { return fixture("parquet") / name; }

std::vector<Json> records_of(const Files& files, const std::vector<std::string>& columns = {}) {
  const RecordSourcePtr source = open_records(files);
  if (!columns.empty()) source->select(columns);
  std::vector<Json> records;
  for (Json record; source->next(record);) records.push_back(std::move(record));
  return records;
}

// The records that pyarrow reads from the files of a family (fixtures/parquet/make_fixtures.py).
std::vector<Json> expected(const std::string& family) {
  const std::string file = family + ".expected.jsonl";
  std::ifstream lines(parquet(file));
  std::vector<Json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(io::parse_json(line, file));
  return records;
}

class ParquetFixture : public testing::TestWithParam<const char*> {};

TEST_P(ParquetFixture, HasTheRecordsThatPyarrowReads) {
  const std::string name = GetParam();
  const std::vector<Json> read = records_of({parquet(name + ".parquet")});
  const std::vector<Json> wanted = expected(name.substr(0, name.find('_')));
  ASSERT_EQ(read.size(), wanted.size());
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    ASSERT_EQ(read[row].size(), wanted[row].size()) << row;
    for (const auto& [column, value] : wanted[row].items()) ASSERT_EQ(read[row][column], value) << row << " " << column;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ParquetFixture,
                         testing::Values("scalars_none", "scalars_snappy", "scalars_gzip", "scalars_zstd",
                                         "scalars_lz4", "scalars_v2", "scalars_plain", "scalars_delta",
                                         "scalars_delta_v2", "nested", "nested_v2", "nested_two_levels", "labelled",
                                         "tagged", "questions", "unsupported", "empty"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(Parquet, DeclaresKindsAndNamesOfLabels) {
  TableReader labelled(Files{parquet("labelled.parquet")});
  EXPECT_EQ(labelled.outline().names(), (Texts{"sentence", "label", "idx"}));
  EXPECT_EQ(labelled.outline().at("sentence").kind(), ColumnKind::text);
  EXPECT_EQ(labelled.outline().at("label").kind(), ColumnKind::integer);
  EXPECT_EQ(labelled.class_names("label"), (Texts{"negative", "positive"}));
  EXPECT_TRUE(labelled.class_names("idx").empty());
  EXPECT_EQ(labelled.rows(), 6);
  const TableReader tagged(Files{parquet("tagged.parquet")});
  EXPECT_EQ(tagged.outline().at("tokens").kind(), ColumnKind::text_list);
  EXPECT_EQ(tagged.outline().at("ner_tags").kind(), ColumnKind::integer_list);
  EXPECT_EQ(tagged.class_names("ner_tags"), (Texts{"O", "B-PER", "I-PER", "B-LOC"}));
  const Table nested = TableReader(Files{parquet("nested.parquet")}).outline();
  EXPECT_EQ(nested.at("answers").kind(), ColumnKind::other);
  EXPECT_EQ(nested.at("numbers").kind(), ColumnKind::number_list);
}

TEST(Parquet, ColumnsThatAreNotSelectedAreNotRead) {
  const std::vector<Json> records = records_of({parquet("scalars_v2.parquet")}, {"i32", "absent"});
  ASSERT_EQ(records.size(), 300u);
  EXPECT_EQ(records[3], (Json{{"i32", -21'000'000}}));
}

TEST(Parquet, TypesThatCannotBeReadAreRefusedByNameWhereTheyAreNeeded) {
  const std::string file = parquet("unsupported.parquet").string();
  const std::pair<const char*, const char*> columns[] = {{"time", "TIMESTAMP"},   {"day", "DATE"},
                                                         {"bytes", "BYTE_ARRAY"}, {"price", "DECIMAL"},
                                                         {"half", "FLOAT16"},     {"map", "MAP"}};
  for (const auto& [column, type] : columns) {
    const std::string error = error_of([&, &column = column] { records_of({file}, {"text", column}); });
    EXPECT_TRUE(contains(error, fmt::format("{}: column \"{}\" has the type ", file, column))) << error;
    EXPECT_TRUE(contains(error, "which is not supported")) << error;
    if (std::string_view(column) != "map") {
      EXPECT_TRUE(contains(error, type)) << error;
    }
  }
  EXPECT_TRUE(contains(error_of([] { records_of({parquet("brotli.parquet")}); }),
                       "it is compressed with Brotli, which is not supported; write it with snappy, gzip, zstd"));
}

class DamagedParquet : public TemporaryFolder {
 protected:
  std::string whole(std::string_view name) const {
    std::ifstream file(parquet(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string error_in(const std::string& bytes) const {
    const auto file = write("f.parquet", bytes);
    const std::string error = error_of([&] { records_of({file}); });
    EXPECT_TRUE(error.empty() || error.starts_with(file.string())) << error;
    return error;
  }
};

TEST_F(DamagedParquet, AFileThatIsCutShortIsOneSentence) {
  const std::string bytes = whole("nested.parquet");
  for (std::size_t size = 0; size < bytes.size(); size += 97)
    EXPECT_TRUE(contains(error_in(bytes.substr(0, size)), "cannot be read as Parquet")) << size;
  EXPECT_TRUE(contains(error_in(bytes.substr(0, bytes.size() - 1)), "it is none or is cut short"));
  EXPECT_TRUE(contains(error_in(bytes.substr(bytes.size() / 2)), "cannot be read as Parquet"))
      << "its beginning is gone";
  EXPECT_TRUE(contains(error_in("a,b\n1,2\n3,4\n"), "so it is none or is cut short"));
}

TEST_F(DamagedParquet, ChecksumsOfPagesCount) {
  std::string bytes = whole("scalars_none.parquet");
  bytes[bytes.find("text number 3")] ^= 1;
  EXPECT_TRUE(contains(error_in(bytes), "a page has a wrong checksum"));
}

// Whatever bytes are changed, the file is read or refused.
TEST_F(DamagedParquet, ChangedBytesAreReadOrRefused) {
  for (const char* name : {"nested.parquet", "labelled.parquet", "scalars_delta_v2.parquet"}) {
    const std::string bytes = whole(name);
    int refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 31) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] + 1);
      refused += error_in(changed).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 5) << name;
  }
}

TEST_F(DamagedParquet, ShardsNeedTheSameColumns) {
  const Files files{parquet("labelled.parquet"), parquet("tagged.parquet")};
  EXPECT_TRUE(contains(error_of([&] { records_of(files); }),
                       "tagged.parquet has the columns tokens (list<text>), ner_tags (list<int64>), but"));
  const Files same{parquet("labelled.parquet"), parquet("labelled.parquet")};
  EXPECT_EQ(records_of(same).size(), 12u);
  EXPECT_EQ(open_records(same)->rows(), 12);
}

}  // namespace
}  // namespace hearth::data
