#include "hearth/data/record_source.h"

#include <zlib.h>
#include <zstd.h>

#include "hearth/data/record_format.h"
#include "hearth/data/table_reader.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::data {
namespace {

using io::Json;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class Records : public TemporaryFolder {
 protected:
  static std::vector<Json> all(const Files& files) {
    const RecordSourcePtr source = open_records(files);
    std::vector<Json> records;
    for (Json record; source->next(record);) records.push_back(std::move(record));
    return records;
  }
  static std::string error(const Files& files) {
    return error_of([&] { all(files); });
  }
};

const char* const kLines = "{\"a\": 1, \"b\": \"x\"}\n{\"a\": 2, \"b\": \"y\"}\n";

TEST_F(Records, AllFormatsGiveTheSameRecords) {
  const std::vector<Json> wanted{{{"a", 1}, {"b", "x"}}, {{"a", 2}, {"b", "y"}}};
  const std::vector<Json> texts{{{"a", "1"}, {"b", "x"}}, {{"a", "2"}, {"b", "y"}}};
  EXPECT_EQ(all({write("f.jsonl", kLines)}), wanted);
  EXPECT_EQ(all({write("f.json", kLines)}), wanted);
  EXPECT_EQ(all({write("f.json", R"([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])")}), wanted);
  EXPECT_EQ(all({write("f.json", R"({"v": [1], "data": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "w": {}})")}), wanted);
  EXPECT_EQ(all({write("f.json", R"({"a": [1, 2], "b": ["x", "y"]})")}), wanted);
  EXPECT_EQ(all({write("f.json", R"({"columns": ["a", "b"], "data": [[1, "x"], [2, "y"]]})")}), wanted);
  EXPECT_EQ(all({write("f.csv", "a,b\n1,x\n2,y\n")}), texts);
  EXPECT_EQ(all({write("f.tsv", "a\tb\n1\tx\n2\ty\n")}), texts);
  EXPECT_EQ(all({write("f.txt", "x\r\n\ny")}), (std::vector<Json>{{{"text", "x"}}, {{"text", ""}}, {{"text", "y"}}}));
}

TEST_F(Records, AreReadInPiecesOfAnySize) {
  std::string lines, csv = "a,b\n", list = "{\"data\": [";
  std::vector<Json> wanted;
  for (int i = 0; i < 30'000; ++i) {  // several pieces of 1 MiB
    const std::string text = fmt::format("{} {}\\\"[", i, std::string(static_cast<std::size_t>(i % 90), 'x'));
    lines += fmt::format("{{\"a\": {}, \"b\": \"{}\"}}\n", i, text);
    list += fmt::format("{}{{\"a\": {}, \"b\": \"{}\"}}", i == 0 ? "" : ", ", i, text);
    const std::string plain = io::parse_json("\"" + text + "\"", "").get<std::string>();
    csv += fmt::format("{},\"{}\"\"[\"\n", i, plain.substr(0, plain.size() - 2));
    wanted.push_back({{"a", i}, {"b", plain}});
  }
  EXPECT_EQ(all({write("f.jsonl", lines)}), wanted);
  EXPECT_EQ(all({write("f.json", lines)}), wanted);
  EXPECT_EQ(all({write("f.json", list + "]}")}), wanted);
  EXPECT_EQ(all({write("f.jsonl.gz", gzipped(lines))}), wanted);
  EXPECT_EQ(all({write("f.json.zst", zstd_compressed(list + "]}"))}), wanted);
  for (Json& record : wanted) record["a"] = std::to_string(record["a"].get<int>());
  EXPECT_EQ(all({write("f.csv", csv)}), wanted);
  EXPECT_EQ(all({write("f.csv.gz", gzipped(csv))}), wanted);
}

TEST_F(Records, CompressedFilesMayHaveSeveralParts) {
  const std::string half = "{\"a\": 1}\n", other = "{\"a\": 2}\n";
  const std::vector<Json> wanted{{{"a", 1}}, {{"a", 2}}};
  EXPECT_EQ(all({write("f.jsonl.gz", gzipped(half) + gzipped(other))}), wanted);
  EXPECT_EQ(all({write("f.jsonl.zst", zstd_compressed(half) + zstd_compressed(other))}), wanted);
}

TEST_F(Records, DamagedCompressionIsOneSentence) {
  const std::string lines = std::string(5000, ' ') + kLines;
  for (const auto& [name, bytes] : {std::pair("f.jsonl.gz", gzipped(lines)), {"f.jsonl.zst", zstd_compressed(lines)}}) {
    EXPECT_TRUE(contains(error({write(name, bytes.substr(0, bytes.size() - 3))}), "is cut short: its")) << name;
    EXPECT_TRUE(contains(error({write(name, "")}), "is cut short: its")) << name;
    EXPECT_TRUE(contains(error({write(name, kLines)}), "cannot be decompressed: it is damaged or no")) << name;
    std::string changed = bytes;
    changed[bytes.size() / 2] ^= 0x55;
    EXPECT_NE(error({write(name, changed)}), "") << name;
  }
}

// A small file that expands to a record without end stops at a limit instead of filling the memory.
TEST_F(Records, BombsAreRefused) {
  const std::string piece(1 << 20, 'x');
  const std::string member = gzipped(piece);
  std::string bomb;
  for (int i = 0; i < 300; ++i) bomb += member;
  EXPECT_TRUE(contains(error({write("f.jsonl.gz", bomb)}), "has a record of more than 256 MiB"));
}

TEST_F(Records, CutJsonIsOneSentence) {
  EXPECT_TRUE(contains(error({write("f.json", R"([{"a": 1}, {"a":)")}), "f.json: record 2"));
  EXPECT_TRUE(contains(error({write("f.json", R"([{"a": 1})")}), "after record 1 a comma or the end of the list"));
  EXPECT_TRUE(contains(error({write("f.json", R"({"data": [{"a": 1}])")}), "f.json"));
  EXPECT_NE(error({write("f.json", R"([{"a": 1}] x)")}), "");
}

TEST_F(Records, FilesAreReadAsOne) {
  const auto first = write("train-0.jsonl", kLines), second = write("train-1.jsonl", kLines);
  const std::string pattern = (folder_ / "train-*.jsonl").string();
  const std::vector<std::string> names{pattern};
  EXPECT_EQ(files_of(names), (Files{first, second}));
  const RecordSourcePtr source = open_records(files_of(names));
  Json record;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(source->next(record));
  EXPECT_EQ(text_of(source->place()), second.string() + ": record 1");
  EXPECT_EQ(name_of(files_of(names)), first.string() + " and 1 more");
  EXPECT_TRUE(
      contains(error_of([&] { files_of(std::vector<std::string>{"none-*.csv"}); }), "no file matches none-*.csv"));
}

TEST_F(Records, FilesReadAsOneNeedTheSameColumns) {
  const auto a = write("a.csv", "x,y\n1,2\n"), b = write("b.csv", "x,z\n1,2\n"), c = write("c.jsonl", kLines);
  EXPECT_EQ(error({a, b}), fmt::format("{} has the columns x, z, but {} has x, y; files that are read as one need the "
                                       "same columns of the same types",
                                       b.string(), a.string()));
  EXPECT_TRUE(contains(error({a, c}), "have different formats"));
  EXPECT_TRUE(contains(error({"f.xml"}), "f.xml is not a file of records: its name must end in"));
}

// Types come from all rows of all files, and errors name the file that a row stands in.
TEST_F(Records, TablesInParts) {
  TableReader reader(Files{write("a.csv", "n,t\n1,x\n2,y\n"), write("b.csv", "n,t\n3.5,z\n,w\n")});
  EXPECT_EQ(reader.outline().at("n").kind(), ColumnKind::number);
  EXPECT_EQ(reader.rows(), 4);
  reader.restart({"n"});
  const Table first = *reader.next(3);
  EXPECT_EQ(first.rows(), 3u);
  EXPECT_EQ(first.names(), std::vector<std::string>{"n"});
  EXPECT_EQ(first.at("n").number(0), 1.0);
  EXPECT_EQ(text_of(first.place(2)), (folder_ / "b.csv").string() + ": record 1");
  const Table last = *reader.next(3);
  EXPECT_EQ(last.rows(), 1u);
  EXPECT_TRUE(last.at("n").is_missing(0));
  EXPECT_TRUE(contains(error_of([&] { last.at("n").written(0); }), "b.csv: record 2: column \"n\" has no value"));
  EXPECT_FALSE(reader.next(3).has_value());
}

TEST_F(Records, MixedKindsInTwoFilesNameBoth) {
  const auto a = write("a.jsonl", "{\"c\": \"x\"}\n"), b = write("b.jsonl", "{\"c\": \"x\"}\n{\"c\": 1}\n");
  EXPECT_EQ(error_of([&] {
              TableReader(Files{a, b});
            }),
            fmt::format("{}: column \"c\" has values of mixed kinds: texts in record 1 of {}, but whole numbers in "
                        "record 2; write all of them alike",
                        b.string(), a.string()));
}

TEST(RecordFormats, AreToldByTheEnding) {
  EXPECT_EQ(record_format_of("a.json.gz"), RecordFormat::json);
  EXPECT_EQ(record_format_of("a.csv.zst"), RecordFormat::csv);
  EXPECT_EQ(record_format_of("a.parquet"), RecordFormat::parquet);
  EXPECT_EQ(record_format_of("a.parquet.gz"), std::nullopt);
  EXPECT_EQ(record_format_of("a.gz"), std::nullopt);
  EXPECT_FALSE(has_fields("a.txt.gz"));
  EXPECT_EQ(record_endings(), ".json, .jsonl, .csv, .tsv or .parquet");
}

}  // namespace
}  // namespace hearth::data
