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
      `Each call adds two numbers, and each result is checked. "In flight" is how many calls wait for their answers at the same time. In the
rows about a pair of transports and about calls in process, client and server share a process, and both count. In all other rows only the
server counts: one client, of no library, sends the same bytes to all servers from another process, or the same objects in memory.

The floor is a program that does only what the transport needs. It reads, parses with \`JSON.parse\`, adds, and writes; in memory it does not
even parse. It checks nothing, has no sessions, and cannot cancel a call. On \`@effect/platform\`'s HTTP server the floor is an application
that parses JSON and answers with JSON, and for web handlers a function that does the same on Hono's adapter.

Without a session, SDK 1 builds a server for every request, as its documentation shows; at 2026-07-28 SDK 2 does the same. \`fastmcp\` runs on
SDK 1 and sends texts only. \`@effect/ai\` has no sessions and no output schema.

What the rows do not say: how long a client waits, because the processor time of a server is not the time until its answer arrives; what a
handler costs that does real work, beside which all of this may be nothing; and how servers compare at large messages, because the messages
here have about 150 bytes.`
  },
  {
    ...COMMON,
    topic: "clients",
    title: "The client alone",
    text:
      `Only the client counts. In memory a function answers, otherwise a program in another process that checks nothing. No client checks results
against output schemas here: the official clients do so only after they have listed the tools, and ours is told not to.

The floor in memory is a promise for each call and nothing else. Over HTTP it is the \`HttpClient\` of \`@effect/platform\` alone, which our client
uses; over stdio it is a reader and writer of lines.

What the rows do not say: what connecting costs, and what a client does about lost connections, which happens in none of these rows.`
  },
  {
    ...COMMON,
    topic: "streams",
    title: "Notifications, cancelled calls, long lists",
    text:
      `A tool sends 1,000 notifications of progress one after another and then its result; the figure is what one notification costs, and the reader
counts that all have arrived. Over a pair of transports the client and its callback count, too. Messages of the log and changes of resources
take the same way through server and client as progress, so that progress stands for them.

For the row about cancelling, 1,000 handlers run; then the client cancels all calls at once. The time ends when every handler was interrupted
and every caller has heard of it. Starting the calls does not count. The limit of calls in flight is raised for this row: by default 64
calls of one client run, and the others wait.

A list has 1,000 tools on one page, and the list is checked to be complete.

The floor writes the same messages without a library. In memory a notification is the call of a function, and a cancelled call is an
\`AbortController\` and a promise.

What the rows do not say: what happens to a client that reads slowly. Our handlers are suspended then, so that memory has a bound; bare Node
and the SDKs go on to write into memory. This bound is part of what a notification costs here.`
  },
  {
    ...COMMON,
    topic: "memory",
    title: "Memory",
    text:
      `The heap after a collection of garbage, before and after so many more of something are open; the figure is the difference for one. A call in
flight counts at client and server together, the other rows count the server alone. An idle session has made its handshake and nothing else. A
stream of a session and a streamed answer are counted without their session, which is there before.

The floor keeps what cannot be done without: a promise and a signal for a call, the parameters of the handshake for a session, Node's own
objects for a stream.

What the rows do not say: memory outside of the heap, such as the buffers of sockets in the system; and how much garbage a call leaves, which
is part of its processor time above.`
  },
  {
    topic: "growth",
    title: "Growth",
    floor: "few",
    own: "many",
    peers: "",
    text:
      `The same calls at the same server, once with few and once with many of something that a call should not notice. A ratio near 1 means that it
does not. What the rows do not say: what the many cost in memory, which is above, and what listing them costs.`
  },
  {
    ...COMMON,
    topic: "validation",
    title: "Checks alone",
    text:
      `The checks of messages, as functions, without a transport. Calls to these functions are a part of the rows above. The floor is a check or a
conversion that was written by hand for this one type. Our lists of tools are mended: a tool that is not valid does not cost the others. The
floor of that row is our own check that mends nothing, and the official SDKs refuse the whole list.`
  },
  {
    ...COMMON,
    topic: "starts",
    title: "Start-up and sizes",
    text:
      `A server over stdio with one tool starts, answers \`initialize\` and one call, and ends with its input. The time is the processor time of the whole
process, and the memory is the largest that it had. Ours is the packages as they are published. The floor is a process of Node that does nothing. "Effect" imports
three modules of Effect, "its modules" all modules of Effect that our server uses: no server on Effect can start faster. Bundles are made
by esbuild, minified, with all that they import; the one of a browser is a client.

What the rows do not say: how long a start takes on a cold disk, and how large a bundle is that shares Effect with the rest of an application.`
  },
  {
    topic: "types",
    title: "The compiler",
    floor: "the imports alone",
    own: "Effect MCP",
    peers: "others",
    text:
      `A file defines 50 tools, each with three parameters, an output of two members and a handler whose types follow from both; \`tsc\` checks it with
\`--strict\` and \`--skipLibCheck\`. The first column is a file that imports the same modules and defines nothing. What lies between the two is the
cost of the tools.

What the rows do not say: what an editor does, which checks one file again and again with the declarations in memory.`
  },
  {
    topic: "nodes",
    title: "Several nodes",
    floor: "in memory, or at its own node",
    own: "over a store, or at another node",
    peers: "others, and the store itself",
    text:
      `What shared state costs: the same server with its state in memory and in a store, which get the same calls in turn. "No state" is a server that
stores nothing. The rows about calls that another node serves count both nodes. The row about growth counts the busiest node, because it limits
how many calls three machines could serve. The rows about a directory compare one with 1,000 and one with 100,000 sessions.

What the rows do not say: what the network between machines costs, because all processes run on one machine.`
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
  }; in brackets are the lowest and the highest.`
}

const HEAD = `# Performance

What this library costs, beside the official SDKs, other libraries, and programs without a library that do the same work. To measure it
yourself, in a clone of the repository:

\`\`\`sh
npm ci
npm run bench                                  # everything: about 25 minutes
npm run bench -- "over HTTP"                   # the rows whose names have this text in them
npm run bench -- --json run.json               # also writes the results
npm run bench -- --markdown docs/performance.md run.json   # makes this page of up to three results
\`\`\`

The rows about several nodes need \`redis-server\` and the programs of PostgreSQL.`

const READING =
  `**Figures compare only within one run.** Each subject of a row runs in a process of its own, the subjects take turns, and a ratio compares
figures of the same round: load on the machine affects all of them. On another machine the figures are others, and the ratios are similar.

A figure is processor time unless the row says otherwise, after the code has been compiled. SDK 1 is \`@modelcontextprotocol/sdk\` 1.32, SDK 2 is
\`@modelcontextprotocol/server\` and \`client\` 2.4; they and the other libraries are used as their documentation shows. "Of the floor" and "of the
best other" divide our figure by theirs: less than 1 means that ours is lower. A budget is the highest ratio, or figure, that we allow
ourselves; a row that is over it says so. The code is in
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
