/* SPDX-License-Identifier: MIT
 * replay_main.cpp: runs one case and compares it with its recording, line by line.
 */
#include "replay.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef std::vector<std::string> lines;

static lines read_lines(std::istream &in)
{
    lines all;
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

/* The case's output, and how it ended if it was not by returning. */
static lines run(const replay_case &c)
{
    char path[] = "/tmp/replay-XXXXXX";
    int fd = mkstemp(path), status;
    pid_t child = fork();
    if (child == 0) {
        dup2(fd, 1);
        alarm(60);
        c.run();
        fflush(stdout);
        exit(0);
    }
    waitpid(child, &status, 0);
    close(fd);
    std::ifstream in(path);
    lines got = read_lines(in);
    unlink(path);
    if (WIFSIGNALED(status))
        got.push_back("    (killed by signal " + std::to_string(WTERMSIG(status)) + ")");
    return got;
}

/* Lines are compared without their spaces: the recording has its calls as they were typed. */
static std::string packed(const std::string &line)
{
    std::string text;
    for (char c : line)
        if (c != ' ')
            text += c;
    return text;
}

static int differ(const char *name, size_t line, const std::string &want, const std::string &got)
{
    printf("[%s] line %zu\n  recorded: %s\n  here:     %s\n", name, line + 1, want.c_str(),
           got.c_str());
    return 1;
}

static int compare(const char *name, const lines &want, const lines &got)
{
    size_t at = 0;
    int wrong = 0, skipped = 0, same = 0;
    for (const std::string &line : got) {
        int skip = 0;
        if (sscanf(line.c_str(), "~skip %d", &skip) == 1) {
            at += (size_t)skip;
            skipped += skip;
            continue;
        }
        std::string expected = at < want.size() ? want[at] : "(nothing)";
        bool equal = packed(line) == packed(expected);
        if (!equal)
            wrong += differ(name, at, expected, line);
        same += equal;
        at++;
    }
    for (; at < want.size(); at++)
        wrong += differ(name, at, want[at], "(nothing)");
    printf("[%s] %d of %zu recorded lines repeated, %d skipped, %d differ\n", name, same,
           want.size(), skipped, wrong);
    return wrong != 0 || same == 0;
}

int replay_main(int argc, char **argv, const replay_case *cases, int count)
{
    for (int i = 0; argc == 3 && i < count; i++) {
        if (strcmp(cases[i].name, argv[1]) != 0)
            continue;
        std::string path = std::string(argv[2]) + "/" + argv[1] + ".txt";
        std::ifstream in(path);
        lines want = read_lines(in);
        if (want.empty()) {
            fprintf(stderr, "no recording in '%s'\n", path.c_str());
            return 1;
        }
        return compare(argv[1], want, run(cases[i]));
    }
    fprintf(stderr, "usage: %s CASE FOLDER; cases:", argv[0]);
    for (int i = 0; i < count; i++)
        fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 1;
}
