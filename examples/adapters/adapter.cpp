// An adapter in C++: RocketMQ's AVG, answered as JSON lines (docs/adapters.md). It copies values as they are written.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

using std::string;
// Where the value that begins at a place ends: behind its last character.
size_t end_of(const string& text, size_t at) {
    int depth = 0;
    do {
        if (text[at] == '"')
            for (at++; text[at] != '"'; at++) at += text[at] == '\\';
        depth += (text[at] == '[' || text[at] == '{') - (text[at] == ']' || text[at] == '}');
        at++;
    } while (depth > 0 || (text[at - 1] != ']' && text[at - 1] != '}' && text[at - 1] != '"' && !strchr(",]}", text[at])));
    return at;
}

// The elements of an array, or keys and values of an object, as they are written; none of null.
std::vector<string> parts(const string& text) {
    std::vector<string> found;
    for (size_t at = 1; text[0] != 'n' && at < text.size() - 1;) {
        size_t end = end_of(text, at);
        found.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return found;
}

string field(const string& object, const string& name) {
    auto all = parts(object);
    auto key = std::find(all.begin(), all.end(), "\"" + name + "\"");
    return key == all.end() ? "null" : *(key + 1);
}
// AllocateMessageQueueAveragely#allocate.
string answer(const string& a) {
    auto queues = parts(field(a, "mqAll")), members = parts(field(a, "cidAll"));
    string cid = field(a, "cid"), rows;
    if (cid == "null" || cid == "\"\"" || queues.empty() || members.empty()) return R"("e":"invalid_argument","m":"empty")";
    size_t index = std::find(members.begin(), members.end(), cid) - members.begin();
    size_t share = queues.size() / members.size(), more = queues.size() % members.size();
    size_t start = index * share + std::min(index, more);
    for (size_t i = start; index < members.size() && i < start + share + (index < more); i++)
        rows += (rows.empty() ? "" : ",") + queues[i];
    return "\"r\":[" + rows + "]";
}

int main() {
    for (string line; std::getline(std::cin, line);) {
        string what = field(line, "do"), said;
        if (what == "\"hello\"") said = R"("protocol":1,"name":"example in C++","functions":["allocate","AVG"],"batch":true)";
        for (auto& a : parts(field(line, "calls"))) said += (said.empty() ? "{" : ",{") + answer(a) + "}";
        if (what == "\"batch\"") said = "\"answers\":[" + said + "]";
        std::cout << "{\"id\":" << field(line, "id") << "," << said << "}" << std::endl;
    }
}
