// SPDX-License-Identifier: MIT
// flow_oracle.cpp: the node's links against SimGrid's (Casanova et al., "Versatile, Scalable, and
// Accurate Simulation of Distributed Applications and Platforms", JPDC 2014), which solves the same
// fluid model: random flows over random links, each arrival compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <xbt/log.h>

extern "C" {
#include "flow.h"
}

namespace sg = simgrid::s4u;

static const double LIMIT = 1e-6;

struct Flow {
    route way;
    uint64_t bytes, start_ps;
    double ours_s, theirs_s;
};

struct Case {
    topology links;
    std::vector<Flow> flows;
};

static void pick_links(std::mt19937_64 &random, const topology &links, route &way)
{
    way.length = 0;
    int wanted = 1 + static_cast<int>(random() % 4);
    for (int tries = 0; tries < 16 && way.length < wanted; tries++) {
        int link = static_cast<int>(random() % static_cast<unsigned>(links.resource_count));
        bool there = false;
        for (int k = 0; k < way.length; k++)
            there = there || way.resource[k] == link;
        if (!there)
            way.resource[way.length++] = link;
    }
}

// Whoever uses a link of these uses the next one, too, as a GPU's PCIe link and its switch's.
static void nest(const topology &links, route &way)
{
    for (int k = 0; k < way.length && way.length < MAX_ROUTE; k++) {
        int next = way.resource[k] + 1;
        bool there = next % 3 == 0 || next == links.resource_count;
        for (int other = 0; other < way.length; other++)
            there = there || way.resource[other] == next;
        if (!there)
            way.resource[way.length++] = next;
    }
}

// Few routes and many flows on some seeds, a route for each flow on others; starts in bursts, so
// that several come and go in one instant, or spread out.
static Case make_case(unsigned seed)
{
    std::mt19937_64 random(seed);
    Case made = {};
    made.links.resource_count = 2 + static_cast<int>(random() % 30);
    for (int r = 0; r < made.links.resource_count; r++)
        made.links.rate_bytes_s[r] = 1e9 * static_cast<double>(1 + random() % (seed % 4 ? 400 : 2));
    std::vector<route> routes(1 + random() % 40);
    for (route &way : routes) {
        way = {};
        pick_links(random, made.links, way);
        if (seed % 4 >= 2)
            nest(made.links, way);
        way.cap_bytes_s = 1e9 * static_cast<double>(1 + random() % 400);
    }
    uint64_t spacing_ps = seed % 3 == 0 ? 0 : 1 + random() % 50000000;
    made.flows.resize(1 + random() % 120);
    for (Flow &flow : made.flows) {
        flow.way = routes[random() % routes.size()];
        flow.bytes = 1 + random() % (seed % 2 ? 1 << 16 : 1 << 28);
        flow.start_ps = spacing_ps * (random() % 8);
    }
    return made;
}

static void run_ours(Case &c)
{
    struct flows *flows = flows_new(&c.links);
    std::vector<size_t> order(c.flows.size());
    for (size_t i = 0; i < order.size(); i++)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return c.flows[a].start_ps < c.flows[b].start_ps; });
    size_t next = 0, done = 0;
    while (done < order.size()) {
        uint64_t start = next < order.size() ? c.flows[order[next]].start_ps : UINT64_MAX;
        uint64_t arrival = flows_next_ps(flows);
        if (arrival <= start) {
            auto *flow = reinterpret_cast<Flow *>(flows_take_arrived(flows, arrival));
            flow->ours_s = static_cast<double>(arrival) * 1e-12;
            done++;
        } else {
            Flow &flow = c.flows[order[next++]];
            flows_add(flows, reinterpret_cast<op *>(&flow), &flow.way, flow.bytes, start);
        }
    }
    flows_end(flows);
}

static void run_theirs(Case &c)
{
    sg::NetZone *zone = sg::create_full_zone("node");
    std::vector<sg::Link *> links;
    for (int r = 0; r < c.links.resource_count; r++)
        links.push_back(
            zone->create_link("link" + std::to_string(r), c.links.rate_bytes_s[r])->seal());
    for (size_t i = 0; i < c.flows.size(); i++) {
        Flow &flow = c.flows[i];
        std::string name = std::to_string(i);
        sg::Host *from = zone->create_host("from" + name, 1e9)->seal();
        sg::Host *to = zone->create_host("to" + name, 1e9)->seal();
        std::vector<sg::LinkInRoute> way;
        for (int k = 0; k < flow.way.length; k++)
            way.emplace_back(links[static_cast<size_t>(flow.way.resource[k])]);
        // A route's cap is a link that the flow has for itself.
        way.emplace_back(zone->create_link("cap" + name, flow.way.cap_bytes_s)->seal());
        zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, way, false);
        sg::Actor::create("flow" + name, from, [&flow, from, to] {
            sg::this_actor::sleep_until(static_cast<double>(flow.start_ps) * 1e-12);
            sg::Comm::sendto(from, to, flow.bytes);
            flow.theirs_s = sg::Engine::get_clock();
        });
    }
    zone->seal();
    sg::Engine::get_instance()->run();
}

// How far off the worst arrival is, as a fraction.
static double compare(unsigned seed)
{
    Case c = make_case(seed);
    run_ours(c);
    run_theirs(c);
    double worst = 0;
    for (const Flow &flow : c.flows) {
        // Picoseconds are whole: an arrival is rounded up to the next.
        double off = std::fmax(std::fabs(flow.ours_s - flow.theirs_s) - 2e-12, 0) / flow.theirs_s;
        if (off > LIMIT && worst <= LIMIT)
            fprintf(stderr,
                    "seed %u: %llu bytes from %llu ps on arrive at %.12f s, SimGrid: %.12f s\n",
                    seed, static_cast<unsigned long long>(flow.bytes),
                    static_cast<unsigned long long>(flow.start_ps), flow.ours_s, flow.theirs_s);
        worst = std::fmax(worst, off);
    }
    if (worst > 1e-7 || seed <= 3)
        printf("seed %u: %zu flows, %d links: worst difference %.1e\n", seed, c.flows.size(),
               c.links.resource_count, worst);
    return worst;
}

// flow.c and SimGrid keep their state in the process: each case has one of its own.
static bool agrees(unsigned seed, int argc, char **argv)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sg::Engine engine(&argc, argv);
        for (const char *option :
             {"network/model:CM02", "network/TCP-gamma:0", "network/weight-S:0",
              "network/latency-factor:1", "network/bandwidth-factor:1", "network/crosstraffic:0",
              "surf/precision:1e-15", "maxmin/precision:1e-12"})
            sg::Engine::set_config(option);
        int status = compare(seed) > LIMIT;
        fflush(stdout);
        _exit(status);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? static_cast<unsigned>(strtoul(argv[1], nullptr, 10)) : 100,
             wrong = 0;
    xbt_log_control_set("root.threshold:warning");
    for (unsigned seed = 1; seed <= cases; seed++)
        wrong += !agrees(seed, argc, argv);
    printf("%u cases, %u differ from SimGrid by more than %.0e\n", cases, wrong, LIMIT);
    return wrong > 0;
}
