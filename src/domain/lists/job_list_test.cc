#include "domain/lists/job_list.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

const std::string job_header = "job,submit_s,gpus,duration_s\n";

std::string job_refusal(const std::string& text, JobListFormat format = JobListFormat::kOwn) {
  const auto jobs = read_jobs(text, "j.csv", format);
  return jobs ? "" : jobs.error().message;
}

TEST(JobList, ReadsItsOwnFormatWithTheFirstSubmitAtZero) {
  const auto jobs = read_jobs(
      "deadline_s,preemptible,checkpoint_s,priority,estimate_s,tenant,duration_s,gpus,submit_s,job,note\n"
      "900,false,60,-2,120,team,100,4,500,a,x\n"
      ",,,,,,50,1,300,b,y\n",
      "j.csv", JobListFormat::kOwn);
  ASSERT_TRUE(jobs.has_value()) << jobs.error().message;
  EXPECT_EQ((*jobs)[0], (ListedJob{.name = "a",
                                   .tenant = "team",
                                   .submit_s = 200,
                                   .gpus = 4,
                                   .duration_s = 100,
                                   .estimate_s = 120,
                                   .priority = -2,
                                   .checkpoint_s = 60,
                                   .is_preemptible = false,
                                   .deadline_s = 600,
                                   .line = 2}));
  EXPECT_EQ((*jobs)[1], (ListedJob{.name = "b", .submit_s = 0, .gpus = 1, .duration_s = 50, .line = 3}));
}

TEST(JobList, RefusesWhatCannotBeAJobWithItsPlace) {
  EXPECT_EQ(job_refusal(job_header + "a,0,0,1\n"),
            "j.csv:2:5: gpus: wanted a whole number from 1 to 1000000000, found \"0\"");
  EXPECT_EQ(job_refusal(job_header + "a,0,1,0\n"),
            "j.csv:2:7: duration_s: wanted a whole number from 1 to 1000000000, found \"0\"");
  EXPECT_EQ(job_refusal(job_header + "a,1.5,1,1\n"),
            "j.csv:2:3: submit_s: wanted a whole number from 0 to 1000000000, found \"1.5\"");
  EXPECT_EQ(job_refusal(job_header + "a,0,1,1\na,0,1,1\n"),
            "j.csv:3:1: job: wanted a name that no other job has, found \"a\"");
  EXPECT_EQ(job_refusal(job_header), "j.csv:1:1: wanted at least one job, found none");
  EXPECT_EQ(job_refusal("job,submit_s,gpus,duration_s,preemptible\na,0,1,1,yes\n"),
            "j.csv:2:9: preemptible: wanted true or false, found \"yes\"");
  EXPECT_EQ(job_refusal("job,submit_s,gpus,duration_s,priority\na,0,1,1,--1\n"),
            "j.csv:2:9: priority: wanted a whole number from -1000000000 to 1000000000, found \"--1\"");
  EXPECT_EQ(job_refusal("job,submit_s,gpus,duration_s,estimate_s\na,0,1,1,0\n"),
            "j.csv:2:9: estimate_s: wanted a whole number from 1 to 1000000000, found \"0\"");
}

TEST(JobList, ReadsPhillyRowsAndRoundsUp) {
  const auto jobs = read_jobs(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 07:01:55,66.2,1,66.2,11cb48\n"
      "2017-10-08 07:01:50,3.0,8,24.0,6214e9\n\n",
      "j.csv", JobListFormat::kPhilly);
  ASSERT_TRUE(jobs.has_value()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[0],
            (ListedJob{.name = "0", .tenant = "11cb48", .submit_s = 86'405, .gpus = 1, .duration_s = 67, .line = 2}));
  EXPECT_EQ((*jobs)[1],
            (ListedJob{.name = "1", .tenant = "6214e9", .submit_s = 0, .gpus = 8, .duration_s = 3, .line = 3}));
  EXPECT_EQ(job_refusal("timestamp,duration,num_gpus,cluster\n2017-10-09 24:01:55,66,1,c\n", JobListFormat::kPhilly),
            "j.csv:2:1: timestamp: wanted a time such as 2017-10-09 07:01:55, found \"2017-10-09 24:01:55\"");
  EXPECT_EQ(job_refusal("timestamp,duration,num_gpus,cluster\n2017-10-09 01:01:55,0,1,c\n", JobListFormat::kPhilly),
            "j.csv:2:21: duration: wanted a number above 0, at most 1000000000, found \"0\"");
}

TEST(JobList, ReadsShockwaveLinesWithTheDurationAsEstimate) {
  const std::string line = "LM\tpython3 main.py\tdir\t--steps\t1\t134583\t2\tgns\t1\t-1.0\t1418.5\t";
  const auto jobs = read_jobs(line + "55\n" + line + "20\n", "t", JobListFormat::kShockwave);
  ASSERT_TRUE(jobs.has_value()) << jobs.error().message;
  EXPECT_EQ((*jobs)[0],
            (ListedJob{.name = "0", .submit_s = 35, .gpus = 2, .duration_s = 1419, .estimate_s = 1419, .line = 1}));
  EXPECT_EQ(job_refusal("a\tb\n", JobListFormat::kShockwave),
            "j.csv:1:1: wanted 12 fields, separated by tabs, found 2");
  EXPECT_EQ(job_refusal(line + "x\n", JobListFormat::kShockwave),
            "j.csv:1:61: field 12 (submit): wanted a number from 0 to 1000000000, found \"x\"");
  EXPECT_EQ(job_refusal("", JobListFormat::kShockwave), "j.csv:1:1: wanted at least one job, found none");
}

}  // namespace
}  // namespace berth
