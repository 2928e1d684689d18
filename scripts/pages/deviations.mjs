// docs/deviations.md: what peers do that the specification does not allow, and what this library does. The rows come from the table that
// the tests of the node package run over every transport, `packages/node/test/deviations/Table.ts`.
import { build } from "esbuild"
import { join } from "node:path"
import { root } from "../workspace.mjs"

const specification = (version = "2025-11-25") =>
  `https://modelcontextprotocol.io/specification/${version < "2026" ? "2025-11-25" : version}/`

/** How many characters of an example are shown. */
const MAX_EXAMPLE = 110

/** The rows, from the TypeScript of the tests. */
export const readTable = async (at = root) => {
  const { outputFiles } = await build({
    entryPoints: [join(at, "packages/node/test/deviations/Table.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    logLevel: "error"
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`)
}

const line = (cells) => `| ${cells.join(" | ")} |`

const table = (head, rows) => [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")

const visible = (text) =>
  text.replace(
    /[\p{Cc}\u2028\u2029\uFEFF]/gu,
    (character) =>
      character === "\n"
        ? "\\n"
        : character === "\r"
        ? "\\r"
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const code = (text) => {
  const shown = visible(text)
  const cut = shown.length > MAX_EXAMPLE ? `${shown.slice(0, MAX_EXAMPLE)}…` : shown
  const fence = cut.includes("`") ? "``" : "`"
  return `${fence}${cut.replaceAll("|", "\\|")}${fence}`
}

const textOf = (message) => typeof message === "string" ? message : JSON.stringify(message)

/** What shows the deviation best: the part of the message that differs from row to row. */
export const exampleOf = (row) => {
  if (row.http?.body !== undefined) {
    const { body, headers = {}, status = 200 } = row.http
    return [String(status), headers["content-type"] ?? "", body].filter((part) => part !== "").join(" ")
  }
  if (row.http !== undefined) {
    const { headers = {}, method = "POST", path = "/mcp" } = row.http
    const shown = Object.entries(headers).map(([name, value]) => value === null ? `no ${name}` : `${name}: ${value}`)
    return [`${method} ${path}`, ...shown].join(", ")
  }
  if (row.reply !== undefined) return textOf(row.reply)
  if (row.message !== undefined) {
    const { message } = row
    return message.jsonrpc === "2.0" && message.id === "$id" && typeof message.method === "string" &&
        message.params !== undefined
      ? textOf(message.params)
      : textOf(message)
  }
  if (row.sends !== undefined) {
    return textOf(row.sends.length > 1 && row.sends[0].id === "$id" ? row.sends[1] : row.sends[0])
  }
  return textOf(row.initialize ?? row.result)
}

const transports = { memory: "memory", stdio: "stdio", http: "HTTP" }

const rowOf = (row) =>
  [
    code(row.method === "" ? "(empty)" : row.method.replace(/,.*/, "")),
    row.rule === undefined ? row.deviation : `${row.deviation} ([rule](${specification(row.version)}${row.rule}))`,
    code(exampleOf(row)),
    row.does,
    row.revisions ?? (row.version?.startsWith("2026") === true ? row.version : "all"),
    (row.over ?? Object.keys(transports)).map((name) => transports[name]).join(", ")
  ].map((cell, at) => at === 2 ? cell : cell.replaceAll("|", "\\|"))

const head = ["Method", "What it does", "Example", "What we do", "Revisions", "Tested over"]

/** The rows of the first contact: what the server does with the probe, what the client does, and over which transport. */
const contactsOf = ({ pipes, urls }) => [
  ...pipes.map(({ does, era, launches }) => [
    does.replaceAll("|", "\\|"),
    launches === 2
      ? "connects once more, begins with `initialize`, and remembers to send no probe"
      : era === "modern"
      ? "speaks 2026-07-28"
      : "sends `initialize` on the same connection",
    "stdio"
  ]),
  ...Object.entries(urls).flatMap(([era, kinds]) =>
    Object.keys(kinds).map((what) => [
      `answers with ${what}`,
      era === "modern" ? "speaks 2026-07-28, after another probe where that is needed" : "sends `initialize`",
      "HTTP"
    ])
  )
]

/** The text of the page. */
export const deviationsOf = ({ clients, pipes, servers, urls }) =>
  `# Peers that deviate

What a peer may do that the specification does not allow, or that implementations read in two ways, and what this library
does. Every row is a test, over each transport that it names: [the table](../packages/node/test/deviations/Table.ts). There are ${
    clients.length + servers.length + contactsOf({ pipes, urls }).length
  } rows.

The rule behind them: this library is strict in what it sends. Both sides read \`null\` in an optional member as its
absence, but never inside \`structuredContent\`, \`_meta\`, a schema, or the arguments of a prompt. A server mends the
arguments of a tool by the schema of the tool, and nothing else. A client leaves out what it cannot read of a server's
message where the rest keeps its meaning. Each loss is reported as a \`Mended\` diagnostic, with the place and the reason
and nothing of the value. "All" revisions are those up to 2025-11-25.

## Clients that deviate, and our server

${table(head, clients.map(rowOf))}

## Servers that deviate, and our client

${table(head, servers.map(rowOf))}

## Servers at the first contact, and our client

What a server does with \`server/discover\`, the first request of a client that knows neither the server nor its era.

${table(["What it does", "What we do", "Tested over"], contactsOf({ pipes, urls }))}

## Where this library follows advice in part

The specification advises these with SHOULD. The library leaves the rest to the application, where it would cost every program more than it
gives to the few that need it.

${table(["Advice", "What we do", "What you can do"], ADVICE)}
`

/** What the specification advises, what holds of it by default, and how an application has the rest. */
const ADVICE = [
  [
    `progress and log messages have a limit of their rate ([rule](${specification()}basic/utilities/progress))`,
    "A stream holds at most 256 messages, and 16 Mi characters, that the client has not read; then the handler is suspended, so that a " +
    "client gets no more than it reads. A client that is slow to handle progress keeps the newest 256. Progress of a task is written once " +
    "at a time. There is no limit per second: a message that was dropped, or that delays its handler, is worse for most servers",
    "send fewer, with `Stream.throttle` or `Effect.when`, or run as a task"
  ],
  [
    `a client keeps what it knows of a server's era ([rule](${specification("2026-07-28")}basic/versioning))`,
    "It is kept for all connectors of one origin that use one `HttpClient`, for all servers of a group by origin or command, and otherwise " +
    "for a connector. Another connector to the same command may send a probe of its own: it launches another process",
    "make the connector once, or name the era with `versions`"
  ],
  [
    `a client starts a server again that has ended, and opens its subscriptions again ([rule](${
      specification("2026-07-28")
    }basic/transports#stdio))`,
    "A `ClientSessionGroup` with `reconnect`, `ConfiguredServers` and a proxy do both. A client alone ends with its connection, and says so in " +
    "`ended`: an application that has one server decides itself what is lost with it",
    "a group of one server, or `Effect.retry` around the scope of the client"
  ],
  [
    `a server bounds what one client can hold ([rule](${specification()}basic/utilities/tasks))`,
    "Limits are those of a user. Clients without a user cannot be told apart over HTTP, so they share one user's limits: `maxRunning` of " +
    "tasks, and the size that the `TaskStore` gives to one owner",
    "an `authenticator` that tells clients apart, if only by address"
  ]
]
