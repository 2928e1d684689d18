// docs/messages.md: the texts of errors and log lines of all published packages, by what the reader was doing, so that whoever sees a text
// finds it. The texts are the literals of the sources; "…" stands for a value. An area names the files that it takes; a file with texts
// that belongs to no area is a fault.
import ts from "typescript"
import { areas as packageAreas } from "../workspace.mjs"

/** Title, what to do first, and the sources: the beginning of their path without `packages/` and `src/`. */
export const areas = [
  [
    "A definition or a schema is refused",
    "The program does not start, or a call of `make` dies: the text names the definition and the place in its schema. See [compiler.md](compiler.md) and the section “A definition is refused” of [troubleshooting](troubleshooting.md).",
    /^(definition\/|server\/features\/NamingRules|protocol\/(Extension|extension|modern\/ParamHeaders|rules\/MetaKey|Method|Implementation))/
  ],
  [
    "A message is malformed, or breaks a rule of the protocol",
    "The other side sent what the revision does not allow, or a handler answered with it. The text says what is wrong; `diagnostics` or the log has the message's beginning.",
    /^(jsonrpc\/(Diagnostic|Message|MessageText|LineFraming|runtime\/(Json|Batch))|protocol\/)/
  ],
  [
    "A request failed, or was not sent",
    "A limit, a time, a cancel or the end of the connection. The section “A request fails” of [troubleshooting](troubleshooting.md) goes through them.",
    /^(kit\/|jsonrpc\/|client\/(ClientError|session|Pages|ClientTelemetry|GroupError|ClientSessionGroup|group)|server\/runtime\/Release)/
  ],
  [
    "A client cannot connect",
    "No process, no answer, a refusal by HTTP, or no revision in common. The section “A client does not connect” of [troubleshooting](troubleshooting.md) goes through them.",
    /^(client\/(negotiation|modern\/Connect|http|HttpResponseError|Remote|ServersConfig|configuration)|node\/(client|subprocess|StdioClient|ConfiguredServers|configuration))/
  ],
  [
    "A client over HTTP loses a stream, or a client cannot answer its server",
    "The connection was there before. Streams are opened again; a question that cannot be answered gets an error.",
    /^client\//
  ],
  [
    "A server does not start, or refuses a feature",
    "The text names the feature, the port or the option.",
    /^(server\/(Registry|TasksServer|MethodHandler|Middleware|FeatureMiddleware|DetachedTask|HttpServices|Page|Ask|features|InProcess|dispatch\/Build|RateLimit|SealKeys|ServerTelemetry|SharedLimits|ClientLogger|TaskStore|http\/BuiltOnce|http\/EndpointContext|runtime\/(Session|HandlerName))|node\/(HttpServer|stdio))/
  ],
  [
    "A server refuses an HTTP request",
    "What clients and proxies in front of the server read in the body of a 4xx or 5xx.",
    /^server\/(http|HttpRefusal|dispatch|legacy|modern|runtime\/(HttpRefusalCheck|Authentication|Permission|RequestOrigin))/
  ],
  [
    "A handler fails, or its answer is refused",
    "The client reads “Internal error”; the log of the server has the cause.",
    /^server\/(runtime|telemetry)/
  ],
  ["A task", "What `tasks/…` answers, and how a task ends.", /^server\/tasks/],
  [
    "Several nodes, and stores",
    "The log of a node, and what clients read while a store is away. See [When something fails](platform/09-when-something-fails.md).",
    /^(server\/nodes|redis\/|sql\/)/
  ],
  [
    "Login, tokens, a protected server",
    "An `AuthorizationError` of a client, or a challenge of a server. See [When a login fails](host/09-login-failures.md) and [Protect a server](platform/02-protect-a-server.md#answers-to-clients).",
    /^auth\//
  ],
  ["A proxy", "See [proxy.md](proxy.md).", /^proxy\//],
  ["A durable task", "How the workflow of a task fails. See [Tasks](server/09-tasks.md).", /^workflow\//],
  ["An OpenAPI document", "See [models.md](models.md).", /^openapi\//],
  ["Models and sampling", "See [models.md](models.md).", /^ai\//],
  ["Skills", "See [the README of the package](../packages/extensions/README.md).", /^skills\//],
  ["Apps", "See [apps.md](apps.md).", /^apps\//]
]

/** Sources whose texts are not errors: descriptions inside of schemas, names of metrics, statements of a database. */
const others = /^(definition\/schema\/(StockText|FilterText)|server\/telemetry\/Metrics|sql\/schema\/Schema)\.ts$/

/** Whether a text is a sentence, and no statement of SQL or Lua. Shorter texts are sentences only where they are errors. */
const isSentence = (text) =>
  text.split(/\s+/).length >= 4 && /[a-z] [a-z]/.test(text) &&
  !/\n {2,}|\b(SELECT|INSERT|UPDATE|DELETE|WHERE|FROM)\b/.test(text)

/** Whether a text of two or three words is an error or a line of the log: "Unknown tool: …", "Connection closed". */
const isShortError = (text, node) =>
  /^[^\s]+ [^\s]+( [^\s]+)?$/.test(text.trim()) && /[a-z]{3}/.test(text) &&
  (isError(node.parent) || (/^[A-Z][a-z]{2}/.test(text) && isInMessage(node)))

/** Whether the value of an expression becomes the text of an error, or of a line of the log. */
const isError = (node) => {
  if (ts.isPropertyAssignment(node)) return node.name.getText() === "message"
  if (ts.isCallExpression(node)) {
    return /(^|\.)(dieMessage|log(Debug|Error|Fatal|Info|Trace|Warning)?)$/.test(node.expression.getText())
  }
  return ts.isNewExpression(node) && /(Error|Malformed)$/.test(node.expression.getText())
}

/** Whether a text may be the beginning of an error: in an error, in `get message()`, or handed to a function that makes an error. */
const isInMessage = (node) => {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (
      isError(at) ||
      (ts.isCallExpression(at) && /[Ii]nvalid|[Ff]ail|[Dd]ied|[Rr]efus|[Uu]nauthorized/.test(at.expression.getText()))
    ) {
      return true
    }
    if (ts.isGetAccessorDeclaration(at)) return at.name.getText() === "message"
    if (ts.isPropertyAssignment(at)) return false
  }
  return false
}

const isSum = (node) => ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken

/** The text of a literal, or of a sum with literals, with "…" for what is not known; `undefined` for other expressions. */
const textOf = (node) => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("")
  }
  if (!isSum(node)) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === undefined && right === undefined ? undefined : `${left ?? "…"}${right ?? "…"}`
}

/** The sentences of a source, in order. */
export const sentencesOf = (text) => {
  const found = new Set()
  const visit = (node) => {
    const own = isSum(node.parent ?? node) || (node.parent !== undefined && ts.isLiteralTypeNode(node.parent))
      ? undefined
      : textOf(node)
    if (own !== undefined && (isSentence(own) || isShortError(own, node))) {
      found.add(own.replace(/\s*\n\s*/g, " ").replace(/^[:;,.] /, "").trim())
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true))
  return [...found]
}

const withoutPackage = (path) => {
  const [, name, module] = /^packages\/([a-z]+)\/src\/(.*)$/.exec(path)
  return packageAreas[name] === undefined ? `${name}/${module}` : module
}

/** The page, and the sources with sentences that belong to no area. */
export const messagesOf = (sources) => {
  const byArea = areas.map(() => new Set())
  const lost = []
  for (const { path, text } of sources) {
    const name = withoutPackage(path)
    if (others.test(name)) continue
    const sentences = sentencesOf(text)
    if (sentences.length === 0) continue
    const at = areas.findIndex(([, , files]) => files.test(name))
    if (at === -1) lost.push(path)
    else for (const sentence of sentences) byArea[at].add(sentence)
  }
  const page = [
    "# Texts of errors and log lines",
    "Search this page for a text that you have read; “…” stands for a value. Each section says what to look at first, and " +
    "[troubleshooting](troubleshooting.md) goes by symptom. The page is made from the sources.",
    ...areas.flatMap(([title, advice], at) => [
      `## ${title}`,
      advice,
      [...byArea[at]].sort((a, b) => a.localeCompare(b, "en")).map((sentence) => `- ${quoted(sentence)}`).join("\n")
    ])
  ].join("\n\n") + "\n"
  return { page, lost }
}

/** A text as code of Markdown, whatever backticks it has. */
const quoted = (text) => text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``
