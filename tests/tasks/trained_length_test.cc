#include "hearth/tasks/common/trained_length.h"

#include <limits>

#include "tests/support.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

using TrainedLength = TemporaryFolder;

TEST_F(TrainedLength, IsReadFromTheModelFolder) {
  write("training_args.json", R"({"max_seq_length": 64})");
  EXPECT_EQ(trained_length(folder_, kUnlimited), 64);
}

TEST_F(TrainedLength, WhereNothingIsSaidAnyOtherNumberWillDo) {
  EXPECT_EQ(trained_length(folder_, kUnlimited), kUnlimited) << "no file";
  for (const char* settings : {R"({"max_seq_length": null})", R"({"seed": 1})"}) {
    write("training_args.json", settings);
    EXPECT_EQ(trained_length(folder_, kUnlimited), kUnlimited) << settings;
    EXPECT_EQ(trained_length(folder_, 128), 128) << settings;
  }
}

TEST_F(TrainedLength, AWrongValueIsNamed) {
  for (const char* settings : {R"({"max_seq_length": 0})", R"({"max_seq_length": 9223372036854775807})",
                               R"({"max_seq_length": "long"})", R"(["max_seq_length"])"}) {
    const std::string file = write("training_args.json", settings).string();
    const std::string error = error_of([&] { trained_length(folder_, 128); });
    EXPECT_TRUE(contains(error, file) && contains(error, "max_seq_length")) << error;
  }
}

}  // namespace
}  // namespace hearth::tasks
