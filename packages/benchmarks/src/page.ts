/**
 * Makes the page about performance, `docs/performance.md`, of the results of up to three runs. This module has the texts, and the figures
 * come from the runs. Without a run, the page has the texts only.
 */
import {
  type Circumstances,
  type Comparison,
  digits,
  type Figure,
  isOver,
  median,
  ownOf,
  type Result,
  type Topic
} from "./Report.js"

/** What one run has written with `--json`. */
export interface Run extends Circumstances {
  readonly results: ReadonlyArray<Result>
}

/** One table. */
interface Section {
  readonly topic: Topic
  readonly title: string
  /** The title of the second column: what the work costs without a library, or what ours is compared with. */
  readonly floor: string
  readonly own: string
  readonly peers: string
  /** What the rows measure, and what they do not say. */
  readonly text: string
}

const COMMON = { floor: "floor", own: "Effect MCP", peers: "others" }

const sections: ReadonlyArray<Section> = [
  {
    ...COMMON,
    topic: "calls",
    title: "A call of a tool",
    text:
      `The tool adds two numbers, and the test program checks each result. "In flight" is how many calls wait for their answers at the same time.
In the rows about a pair of transports and about calls in process, client and server are in one process, and the figure includes both. In
all other rows, the figure is for the server alone. One client, which uses no library, sends the same bytes to all servers from another
process, or the same objects in memory.

The floor is a program that does only what the transport needs. It reads, parses with \`JSON.parse\`, adds, and writes. In memory, it does not
even parse. The program checks nothing, has no sessions, and cannot cancel a call. On the HTTP server of \`@effect/platform\`, the floor is an
application that parses JSON and answers with JSON. For web handlers, the floor is a function that does the same on Hono's adapter.

Without a session, SDK 1 builds a server for every request, as its documentation shows. With revision 2026-07-28, SDK 2 also builds a server
for every request. \`fastmcp\` runs on SDK 1 and sends texts only. \`@effect/ai\` has no sessions and no output schema.

The rows do not show how long a client waits, because the processor time of a server is not the time until its answer arrives. They do not
show the cost of a handler that does real work; this cost can be much higher than all figures here. They do not show how servers compare
with large messages, because the messages here have about 150 bytes.`
  },
  {
    ...COMMON,
    topic: "clients",
    title: "The client alone",
    text:
      `These figures are for the client alone. In memory, a function answers the client. In the other rows, a program in another process answers,
and checks nothing. No client checks results against output schemas in these rows. The official clients check results only after they have
listed the tools, and in our client the option \`checkOutputs: false\` turns this check off.

The floor in memory is a promise for each call and nothing else. Over HTTP, the floor is the \`HttpClient\` of \`@effect/platform\` alone, which
our client uses. Over stdio, the floor is a reader and writer of lines.

The rows do not show what connecting costs, and what a client does about lost connections. No connection is lost in these rows.`
  },
  {
    ...COMMON,
    topic: "streams",
    title: "Notifications, cancelled calls, long lists",
    text:
      `A tool sends 1,000 notifications of progress one after another, and then its result. The figure is the cost of one notification. The reader
counts the notifications, so that none is missing. Over a pair of transports, the figure includes the client and its callback. Log messages
and changes of resources pass through server and client in the same way as progress, so they have no rows of their own.

For the row about cancelling, 1,000 handlers run, and then the client cancels all calls at once. The time ends when every handler was
interrupted and every call has ended at its caller. The time does not include the start of the calls. This row raises the limit of calls in
flight. By default, 64 calls of one client run, and the others wait.

A list has 1,000 tools on one page. The test program checks that the list is complete.

The floor writes the same messages without a library. In memory, a notification is the call of a function, and a cancelled call is an
\`AbortController\` and a promise.

The rows do not show what happens when a client reads slowly. Our handlers are then suspended, so that the memory for waiting messages has a
limit. Bare Node and the SDKs continue to write into memory. This limit is part of the cost of a notification here.`
  },
  {
    ...COMMON,
    topic: "memory",
    title: "Memory",
    text:
      `These figures are for the heap after a garbage collection. The figure is the difference between the heap with and without the open calls,
sessions or streams of the row, divided by their number. The row about a call in flight counts client and server together. The other rows
count the server alone. An idle session has made its handshake and nothing else. The figures for a stream of a session and for a streamed
answer do not include the session, which exists before.

The floor keeps only what is necessary: a promise and a signal for a call, the parameters of the handshake for a session, Node's own objects
for a stream.

The rows do not show memory outside of the heap, such as the buffers of sockets in the system. They also do not show how much garbage a call
leaves. The cost of this garbage is part of the processor time above.`
  },
  {
    topic: "growth",
    title: "Growth",
    floor: "few",
    own: "many",
    peers: "",
    text:
      `These rows make the same calls to the same server, with few and with many sessions or tools. The cost of a call should not depend on their
number. With a ratio near 1, it does not. The rows do not show how much memory the many sessions need, which is in the table above, and what
listing many tools costs.`
  },
  {
    ...COMMON,
    topic: "validation",
    title: "Checks alone",
    text:
      `These rows are for the checks of messages as functions, without a transport. The rows above include calls to these functions. The floor is a
check or a conversion that was written by hand for this one type. When a tool in a list is not valid, our check corrects the tool or leaves
it out, and keeps the other tools; the official SDKs refuse the whole list. For lists, the floor is our own check without these corrections.
The row with 100 tools that are not valid is compared with a list of valid tools.`
  },
  {
    ...COMMON,
    topic: "starts",
    title: "Start-up and sizes",
    text:
      `A server over stdio with one tool starts, answers \`initialize\` and one call, and ends when its input ends. The time is the processor time of
the whole process, and the memory is the most that the process has used. Effect MCP is the packages as they are published. The floor is a
process of Node that does nothing. "Effect" imports three modules of Effect. "Its modules" imports all modules of Effect that our server
uses, so no server with these modules can start faster. The bundles are made by esbuild, minified, with everything that they import. The
bundle for a browser is a client.

The rows do not show how long a start takes when the disk is cold, and how large a bundle is that shares Effect with the rest of an
application.`
  },
  {
    topic: "types",
    title: "The compiler",
    floor: "the imports alone",
    own: "Effect MCP",
    peers: "others",
    text:
      `A file defines 50 tools. Each tool has three parameters, an output of two members, and a handler whose types follow from the parameters and
the output. \`tsc\` checks the file with \`--strict\` and \`--skipLibCheck\`. The first column is for a file that imports the same modules and
defines nothing. The difference between the two columns is the cost of the tools.

The rows do not show the cost in an editor, which checks one file again and again with the declarations in memory.`
  },
  {
    topic: "nodes",
    title: "Several nodes",
    floor: "in memory, or at its own node",
    own: "over a store, or at another node",
    peers: "others, and the store itself",
    text:
      `These rows show the cost of shared state. One server has its state in memory, and the same server has its state in a store. Both servers get
the same calls in turn. "No state" is a server that stores nothing. The rows about calls that another node serves count both nodes. The row
about growth counts the busiest node, because this node limits how many calls three machines can serve. The rows about a directory compare a
directory of 1,000 sessions with a directory of 100,000 sessions.

The rows do not show the cost of the network between machines, because all processes run on one machine.`
  }
]

/** How subjects are printed. The other subjects are printed with their own names. */
const labels: ReadonlyArray<readonly [RegExp, string]> = [
  [/^sdk1 imports$/, "SDK 1, imports"],
  [/^sdk2 imports$/, "SDK 2, imports"],
  [/^sdk1/, "SDK 1"],
  [/^sdk2/, "SDK 2"],
  [/^effect-ai$/, "@effect/ai"],
  [/^effect$/, "Effect"],
  [/^effect-modules$/, "its modules"],
  [/^own-bundled$/, "Effect MCP, bundled"],
  [/^own/, "Effect MCP"]
]

const labelOf = (subject: string): string => labels.find(([pattern]) => pattern.test(subject))?.[1] ?? subject

const mergeFigures = (results: ReadonlyArray<Result>, subject: string): Figure => {
  const all = results.flatMap(({ figures }) => figures.filter((figure) => figure.subject === subject))
  return {
    subject,
    median: median(all.map((figure) => figure.median)),
    lowest: Math.min(...all.map(({ lowest }) => lowest)),
    highest: Math.max(...all.map(({ highest }) => highest))
  }
}

const mergeComparisons = (results: ReadonlyArray<Result>, { other, own, ...rest }: Comparison): Comparison => ({
  own,
  other,
  ...rest,
  ratio: median(
    results.flatMap(({ comparisons }) => comparisons.filter((one) => one.own === own && one.other === other))
      .map(({ ratio }) => ratio)
  )
})

/** Makes one row of the same row of several runs. */
const merge = (results: ReadonlyArray<Result>): Result => {
  const [first] = results
  if (first === undefined) throw new Error("There is no row to merge")
  return {
    ...first,
    figures: first.figures.map(({ subject }) => mergeFigures(results, subject)),
    comparisons: first.comparisons.map((comparison) => mergeComparisons(results, comparison))
  }
}

const figure = ({ highest, lowest, median }: Figure): string =>
  lowest === highest ? digits(median) : `${digits(median)} (${digits(lowest)} to ${digits(highest)})`

/** Subjects that ours is compared with, and that are not other libraries for MCP. */
const noPeers = ["node", "effect", "effect-modules"]

/** The ratio to the peer with the lowest figure. */
const toBest = ({ comparisons, figures, floor, own }: Result): Comparison | undefined => {
  const peers = comparisons.filter((one) => one.own === own && one.other !== floor && !noPeers.includes(one.other))
  const of = ({ other }: Comparison) => figures.find(({ subject }) => subject === other)?.median ?? Infinity
  return peers.reduce<Comparison | undefined>(
    (best, one) => best === undefined || of(one) < of(best) ? one : best,
    undefined
  )
}

const NONE = "–"

const budgetOf = (result: Result): string => {
  const limits = result.comparisons.flatMap(({ most, other, own }) =>
    most === undefined
      ? []
      : [`${most} of ${other === result.floor ? "the first" : labelOf(other)}${own === result.own ? "" : `: ${own}`}`]
  )
  const all = [...limits, ...(result.most === undefined ? [] : [`${result.most} in all`])].join(", ")
  return all === "" ? NONE : isOver(result) ? `**over:** ${all}` : all
}

const cells = (values: ReadonlyArray<string>): string => `| ${values.join(" | ")} |`

const rowOf = (result: Result): string => {
  const { comparisons, figures, floor, name, own, unit } = result
  const ofFloor = comparisons.find((one) => one.own === own && one.other === floor)
  const best = toBest(result)
  const floorFigure = figures.find(({ subject }) => subject === floor)
  const others = figures.filter(({ subject }) => subject !== own && subject !== floor)
    .map(({ median, subject }) => `${labelOf(subject)} ${digits(median)}`)
  return cells([
    `${name.replace(/^nodes: /, "")}; ${unit}`,
    floorFigure === undefined ? NONE : digits(floorFigure.median),
    `**${figure(ownOf(result))}**`,
    others.length === 0 ? NONE : others.join(", "),
    ofFloor === undefined ? NONE : digits(ofFloor.ratio),
    best === undefined ? NONE : digits(best.ratio),
    budgetOf(result)
  ])
}

const tableOf = ({ floor, own, peers }: Section, results: ReadonlyArray<Result>): string =>
  [
    cells([
      "what; unit",
      floor,
      own,
      peers,
      `of the ${floor === "floor" ? "floor" : "first"}`,
      "of the best other",
      "budget"
    ]),
    "|---|---|---|---|---|---|---|",
    ...results.map(rowOf)
  ].join("\n")

const machineOf = (runs: ReadonlyArray<Run>): string => {
  const [first] = runs
  if (first === undefined) return "This page has no figures yet: a run on an idle machine brings them."
  const { cores, node, processor, rounds } = first
  if (runs.some((run) => run.node !== node || run.processor !== processor || run.cores !== cores)) {
    throw new Error("The runs are from different machines")
  }
  const many = runs.length === 1 ? "one run" : `${runs.length} runs`
  return `The figures are from ${many} with Node ${node} on a machine with ${cores} cores (${processor}). A figure is the median of ${rounds} rounds${
    runs.length === 1 ? "" : `, and of the ${runs.length} runs`
  }. The lowest and the highest figure are in brackets.`
}

const HEAD = `# Performance

This page says how much time and memory this library needs, compared with the official SDKs, with other libraries, and with programs without
a library that do the same work. To measure this yourself, run these commands in a clone of the repository:

\`\`\`sh
npm ci
npm run bench                                  # everything: about 25 minutes
npm run bench -- "over HTTP"                   # the rows whose names have this text in them
npm run bench -- --json run.json               # also writes the results
npm run bench -- --markdown docs/performance.md run.json   # makes this page of up to three results
\`\`\`

The rows about several nodes need \`redis-server\` and the programs of PostgreSQL.`

const READING =
  `**Compare figures only within one run.** Each program of a row runs in a process of its own, and the programs take turns. A ratio compares
figures of the same round, because load on the machine affects all programs of a round. On another machine, the figures are different, and
the ratios are similar.

A figure is processor time after the code has been compiled, unless the row says otherwise. SDK 1 is \`@modelcontextprotocol/sdk\` 1.32, and
SDK 2 is \`@modelcontextprotocol/server\` and \`client\` 2.4. We use the SDKs and the other libraries as their documentation shows. "Of the
floor" divides the figure of Effect MCP by the figure of the floor, and "of the best other" divides it by the figure of the best other
library. A ratio below 1 means that Effect MCP needs less. A budget is the highest ratio, or the highest figure, that we allow for Effect
MCP. A row with a higher value says so. The code is in
[packages/benchmarks](https://github.com/effect-mcp/effect-mcp/tree/main/packages/benchmarks).`

/** The page. */
export const pageOf = (runs: ReadonlyArray<Run>): string => {
  const names = [...new Set(runs.flatMap(({ results }) => results.map(({ name }) => name)))]
  const merged = names.map((name) =>
    merge(runs.flatMap(({ results }) => results.filter((result) => result.name === name)))
  )
  const parts = sections.map((section) => {
    const results = merged.filter(({ topic }) => topic === section.topic)
    const table = results.length === 0 ? [] : [tableOf(section, results)]
    return [`## ${section.title}`, ...table, section.text].join("\n\n")
  })
  return `${[HEAD, machineOf(runs), READING, ...parts].join("\n\n")}\n`
}
