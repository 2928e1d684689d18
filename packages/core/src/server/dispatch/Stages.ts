/**
 * Makes the stages of the HTTP endpoint, for `Endpoint`. A stage is a step that each request passes, such as authentication or reading the
 * body. There are two lists. One list is for a request that arrived at this node. The other list is for a request that another node has
 * passed on; this list also authenticates the sender. `http/Stage` runs the stages, and `HttpTransports` finds the transport that serves a
 * path.
 *
 * `make` makes the lists. Each other function makes one stage. The arguments of the function are the parts of the endpoint that the stage
 * needs, so that a test can run the stage alone. A stage that needs no part of the endpoint is a value.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Message from "../../jsonrpc/Message.js"
import * as MessageText from "../../jsonrpc/MessageText.js"
import type { Deadlines } from "../../kit/Deadlines.js"
import type { Caller, Refuses } from "../Authenticator.js"
import * as Guard from "../http/Guard.js"
import type { Health } from "../http/Health.js"
import { type Admission, type Admitted, type Answerable, type Arrived, pathOf, repeated } from "../http/HttpExchange.js"
import type { LongBodies } from "../http/LongBodies.js"
import * as MediaType from "../http/MediaType.js"
import * as Refusal from "../http/Refusal.js"
import { type Bodies, MAX_DISCARDED, OpenBody } from "../http/RequestBody.js"
import { type Any, HELD, inOrder, type Passing, type Stage } from "../http/Stage.js"
import type { HttpRefusal } from "../HttpRefusal.js"
import * as SessionFacts from "../legacy/SessionFacts.js"
import * as Authentication from "../runtime/Authentication.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as HttpRefusalCheck from "../runtime/HttpRefusalCheck.js"
import * as Permission from "../runtime/Permission.js"
import type { Server } from "../runtime/Server.js"
import type { Draining } from "./Draining.js"
import type { HttpTransports, ServedPath } from "./HttpTransports.js"

/** The parts of the endpoint that the stages need. */
export interface Parts extends Pick<Server, "authenticate" | "requiredScopes" | "taskScopes"> {
  readonly health: Pick<Health, "answers"> | undefined
  readonly guard: Guard.Guard
  /** JSON texts by their paths. */
  readonly documents: ReadonlyMap<string, string>
  readonly transports: Pick<HttpTransports, "find">
  readonly draining: Pick<Draining, "arrived" | "hasBegun">
  readonly sweeper: Deadlines
  readonly bodies: Bodies
  readonly longBodies: LongBodies
  readonly limits: MessageText.Limits & { readonly maxBodyBytes: number }
  /** Refuses a request when the endpoint has begun to close. Gives `true` when it has refused the request. */
  readonly refuses: (request: Answerable) => boolean
  readonly report: Report
  /** Runs an effect on a fiber of its own. */
  readonly fork: (effect: Effect.Effect<void>) => void
}

/** Functions that report events to the operator, through the log. */
export interface Report {
  /** The Host or the Origin of a request was refused. */
  readonly forbidden: (refusal: HttpRefusal) => void
  /** The application has refused a request with a status or a header that HTTP does not allow. */
  readonly fault: (fault: Error) => void
}

export interface Lists {
  /** The stages of a request that arrived at this node. */
  readonly own: ReadonlyArray<Any>
  /** The stages of a request that another node has passed on. */
  readonly passedOn: ReadonlyArray<Any>
}

export const make = (parts: Parts): Lists => {
  const { authenticate, documents, health: probes } = parts
  const from = authenticate === undefined ? anyone : sender(authenticate, parts)
  return {
    own: inOrder(
      probes && health(probes),
      guard(parts),
      open(parts),
      documents.size === 0 ? undefined : document(parts),
      path(parts),
      from,
      headers(parts),
      owner(parts),
      bodiless,
      body(parts),
      stillOwner(parts),
      message(parts),
      permission(parts),
      era
    ),
    // The stage `sender` comes before `open`, so that only an authenticated sender learns that this node is closing.
    passedOn: inOrder(
      ownPath(parts),
      from,
      open(parts),
      headers(parts),
      owner(parts),
      bodiless,
      body(parts),
      stillOwner(parts),
      message(parts),
      permission(parts),
      era
    )
  }
}

type Held = typeof HELD

/** Answers health checks of supervisors and load balancers. */
export const health = (probes: Pick<Health, "answers">): Stage<"health", {}, void> => ({
  name: "health",
  run: (request) => {
    const { method, path } = request.arrived
    if (method !== "GET" && method !== "HEAD") return undefined
    const reply: Answerable["reply"] = (status, headers, body) => request.reply(status, headers, body)
    return probes.answers({ method, path, reply }) ? HELD : undefined
  }
})

/** Checks Host and Origin, and adds the CORS headers for a page of another origin. */
export const guard = (
  { documents, guard, report }: Pick<Parts, "documents" | "guard" | "report">
): Stage<"guard", {}, void> => ({
  name: "guard",
  run: (request) => {
    const { arrived, headers } = request
    // The pages of every origin may read a document.
    const isDocument = documents.size > 0 && documents.has(arrived.path)
    const refusal = guard.check(isDocument ? { ...headers, origin: undefined } : headers, arrived)
    if (refusal !== undefined) {
      report.forbidden(refusal)
      return refuse(request, refusal)
    }
    const cors = headers.origin === undefined ? undefined : isDocument ? Guard.anyOrigin : guard.cors(headers)
    if (cors !== undefined) request.add(cors)
    return undefined
  }
})

/** Refuses requests after the endpoint has begun to close. */
export const open = ({ refuses }: Pick<Parts, "refuses">): Stage<"open", {}, void> => ({
  name: "open",
  run: (request) => refuses(request) ? HELD : undefined
})

/**
 * Answers with a JSON document that every page may read, such as the metadata of the authorization. A client needs no authentication to
 * read the document.
 */
export const document = ({ documents, guard }: Pick<Parts, "documents" | "guard">): Stage<"document", {}, void> => ({
  name: "document",
  run: (request) => {
    const { arrived: { method, path }, headers } = request
    const text = documents.get(path)
    if (text === undefined) return undefined
    const allow = "GET, HEAD, OPTIONS"
    if (method === "OPTIONS") request.reply(204, guard.preflight(headers, allow), "")
    else if (method !== "GET" && method !== "HEAD") Refusal.send(request, Refusal.methodNotAllowed(method, allow))
    else request.reply(200, { "content-type": "application/json" }, method === "HEAD" ? "" : text)
    return HELD
  }
})

/** Finds the transport that serves the path, and checks that the transport supports the HTTP method of the request. */
export const path = (
  { draining, guard, transports }: Pick<Parts, "draining" | "guard" | "transports">
): Stage<"path", {}, ServedPath> => ({
  name: "path",
  run: (request) => {
    const { method, url } = request.arrived
    const served = transports.find(url)
    if (served === undefined) return refuse(request, Refusal.notFound(pathOf(url)))
    const { allow } = served
    if (method === "OPTIONS") {
      request.reply(204, guard.preflight(request.headers, allow), "")
      return HELD
    }
    if (!METHODS.has(method) || !allow.includes(method)) {
      return refuse(request, Refusal.methodNotAllowed(method, allow))
    }
    draining.arrived++
    return draining.hasBegun && (method === "GET" || served.toOwner(request.arrived) !== undefined)
      ? refuse(request, Refusal.closing)
      : served
  }
})

/** Finds the transport for a request that another node has passed on, if this node still serves the session of the request. */
export const ownPath = (
  { draining, transports }: Pick<Parts, "draining" | "transports">
): Stage<"path", {}, ServedPath> => ({
  name: "path",
  run: ({ arrived }) => {
    const served = transports.find(arrived.url)
    if (served !== undefined && served.toOwner(arrived) === undefined) return served
    arrived.moved?.(draining.hasBegun)
    return HELD
  }
})

/** Finds the user who has sent the request. */
export const sender = (
  authenticate: Authentication.Authenticate,
  { report, sweeper }: Pick<Parts, "report" | "sweeper">
): Stage<"sender", {}, Admitted> => ({
  name: "sender",
  run: (request) => {
    const { arrived, headers } = request
    // With several `Authorization` headers, nothing says which header identifies the client. A comma alone does not prove that there are
    // several headers.
    if (headers.authorization?.includes(",") === true && isRepeated(arrived, "authorization")) {
      return refuse(request, Refusal.repeatedHeader("Authorization"))
    }
    let waiting = true
    const caller = callerOf(arrived)
    const interrupt = authenticate(caller, (found) => {
      waiting = false
      if (Either.isLeft(found)) return void refuseSender(request, report, found.left)
      const { principal, user } = found.right
      const watchUser = Authentication.watch(authenticate, caller, found.right, sweeper)
      request.pass(request.admit({ principal, user, watchUser }))
    })
    if (waiting) arrived.onGone(() => waiting && interrupt())
    return HELD
  }
})

/** The stage `sender` of a server without an authenticator: accepts every sender. */
export const anyone: Stage<"sender", {}, Admitted> = { name: "sender", run: (request) => request.admit(ANYBODY) }

/** Checks the headers of a POST, before the body is read. */
export const headers = (
  { limits: { maxBodyBytes }, report }: {
    readonly limits: Pick<Parts["limits"], "maxBodyBytes">
    readonly report: Report
  }
): Stage<"headers", { readonly path: ServedPath; readonly sender: Admitted }, void> => ({
  name: "headers",
  run: (request, { path, sender }) => {
    if (request.arrived.method !== "POST") {
      const refused = Permission.refusal(sender.user, [])
      return refused && refuseSender(request, report, refused)
    }
    const { headers } = request
    // Node removes the last coding, which must be `chunked`. Other codings are not supported here.
    const coding = headers["transfer-encoding"]
    const length = Number(headers["content-length"] ?? 0)
    const refusal = path.responses !== undefined && MediaType.formOf(headers.accept, path.responses) === undefined
      ? Refusal.notAcceptable("application/json or text/event-stream")
      : coding !== undefined && coding.trim().toLowerCase() !== "chunked"
      ? Refusal.unsupportedTransferCoding
      : !MediaType.isJson(headers)
      ? Refusal.unsupportedMediaType
      : length > maxBodyBytes
      ? Refusal.tooLarge(maxBodyBytes, length - maxBodyBytes > MAX_DISCARDED)
      : undefined
    return refusal && refuse(request, refusal)
  }
})

/** The result of the stage `owner` for a request that this node serves. */
export interface Owned {
  /** Whether no node has the session of the request. Then the transport refuses the request. */
  readonly isUnknown: boolean
  /** The body, if the stage has already read it in order to pass the request on; otherwise `undefined`. */
  readonly body: string | undefined
}

/**
 * Passes a request on when another node may serve the session. This stage comes before the stage `body`, so that the server reads the body
 * only after it has found the node.
 */
export const owner = (
  { bodies, draining, longBodies }: Pick<Parts, "bodies" | "draining" | "longBodies">
): Stage<"owner", { readonly path: ServedPath; readonly sender: Admitted }, Owned> => ({
  name: "owner",
  run: (request, { path, sender }) => {
    const { arrived } = request
    const read = arrived.method === "POST"
      // This stage reads the body only of a request whose session another node serves.
      ? (then: (body: string) => void) => readBody(request, sender, sessionNamed(arrived), { bodies, longBodies }, then)
      : undefined
    const isSent = sendToOwner(
      sender,
      path,
      draining,
      read,
      (body) => request.pass({ isUnknown: path.toOwner(arrived) !== undefined, body })
    )
    return isSent ? HELD : HERE
  }
})

/** Serves GET and DELETE requests, which have no body. */
export const bodiless: Stage<"bodiless", { readonly path: ServedPath; readonly sender: Admitted }, void> = {
  name: "bodiless",
  run: ({ arrived }, { path, sender }) => {
    const { method } = arrived
    if (method === "POST") return undefined
    arrived.begins?.()
    const serve = method === "GET" ? path.get! : path.delete!
    serve(sender)
    return HELD
  }
}

/** Reads the body. A long body waits for a later turn of the event loop. */
export const body = (
  parts: Pick<Parts, "bodies" | "longBodies">
): Stage<"body", { readonly path: ServedPath; readonly sender: Admitted; readonly owner: Owned }, string> => ({
  name: "body",
  run: (request, { owner, path, sender }) => {
    if (owner.body !== undefined) return owner.body
    const session = path.hasSession(request.arrived) ? sessionNamed(request.arrived) : undefined
    readBody(request, sender, session, parts, (body) => request.pass(body))
    return HELD
  }
})

/** Passes a request on when its session has moved to another node while this node read the body. */
export const stillOwner = (
  { draining }: Pick<Parts, "draining">
): Stage<"stillOwner", {
  readonly path: ServedPath
  readonly sender: Admitted
  readonly owner: Owned
  readonly body: string
}, void> => ({
  name: "stillOwner",
  run: (request, { body, owner, path, sender }) => {
    if (owner.isUnknown) return undefined
    return sendToOwner(sender, path, draining, (then) => then(body), () => request.pass()) ? HELD : undefined
  }
})

/** Reads the message in the body. */
export const message = (
  { limits }: { readonly limits: MessageText.Limits }
): Stage<"message", { readonly body: string }, Message.Incoming> => ({
  name: "message",
  run: (_, { body }) => MessageText.parse(body, limits)
})

/** The authorization scopes that the messages of a request require; `undefined` where they require no scopes. */
export type Requires = ReadonlyArray<string> | undefined

/** Checks that the sender may send the message, and finds the scopes that the message requires. */
export const permission = (
  { fork, report, requiredScopes, taskScopes }: Pick<Parts, "fork" | "report" | "requiredScopes" | "taskScopes">
): Stage<"permission", { readonly sender: Admitted; readonly message: Message.Incoming }, Requires> => ({
  name: "permission",
  run: (request, { message, sender: { principal, user } }) => {
    if (user === undefined) return undefined
    const own = requiredScopes(message)
    const checked = (scopes: ReadonlyArray<string>): Requires | Held => {
      const refused = Permission.refusal(user, scopes)
      if (refused !== undefined) return refuseSender(request, report, refused, message)
      return scopes.length > 0 ? scopes : undefined
    }
    const ofTask = taskScopes(message, principal?.id)
    if (ofTask === undefined) return checked(own)
    fork(Effect.map(ofTask, (scopes) => {
      const requires = request.isGone ? HELD : checked([...own, ...scopes])
      if (requires !== HELD) request.pass(requires)
    }))
    return HELD
  }
})

/**
 * Gives the message to the transport of the path. The transport chooses the era of the message (legacy or modern) and serves the message.
 */
export const era: Stage<"era", {
  readonly path: ServedPath
  readonly sender: Admitted
  readonly message: Message.Incoming
  readonly permission: Requires
}, void> = {
  name: "era",
  run: ({ arrived }, { message, path, permission, sender }) => {
    arrived.begins?.()
    path.post(sender, message, permission)
    return HELD
  }
}

const ANYBODY: Admission = { principal: undefined, user: undefined, watchUser: undefined }

const HERE: Owned = { isUnknown: false, body: undefined }

const METHODS: ReadonlySet<string> = new Set(["POST", "GET", "DELETE"])

/** Sends a request to the node that may serve the session. Gives `true` when this function has sent or refused the request. */
const sendToOwner = (
  request: Admitted,
  path: ServedPath,
  draining: Parts["draining"],
  read: ((then: (body: string) => void) => void) | undefined,
  local: (body?: string) => void
): boolean => {
  const toOwner = path.toOwner(request.arrived)
  if (toOwner === undefined) return false
  if (request.moved !== undefined) request.moved(draining.hasBegun)
  else if (draining.hasBegun) Refusal.send(request, Refusal.closing)
  else {
    const id = request.principal?.id
    toOwner({ exchange: request, isOfAnother: ({ facts }) => SessionFacts.areOfAnother(facts, id), read, local })
  }
  return true
}

/** Gives the part of a request that contains the session id: the header `Mcp-Session-Id`, or the URL of HTTP+SSE. */
const sessionNamed = ({ headers, url }: Arrived): string => headers["mcp-session-id"] ?? url

const readBody = (
  request: Passing<never>,
  { principal }: Admitted,
  session: string | undefined,
  { bodies, longBodies }: Pick<Parts, "bodies" | "longBodies">,
  then: (body: string) => void
): void => {
  const { arrived } = request
  const reading = new OpenBody(bodies, principal?.id ?? session)
  arrived.body(reading, (body) => {
    reading.end()
    if (typeof body !== "string") return Refusal.send(request, Refusal.ofBody(body, reading.maxBytes))
    const forget = longBodies.add(principal?.id, {
      size: body.length,
      read: () => then(body),
      refuse: () => Refusal.send(request, Refusal.tooManyLong)
    })
    if (forget !== undefined) arrived.onGone(forget)
  })
  if (!reading.isOver) arrived.onGone(() => reading.end())
}

const refuse = (request: Answerable, refusal: HttpRefusal): Held => {
  Refusal.send(request, refusal)
  return HELD
}

/** Refuses a request because of its sender. The response has the id of the message, if this node has already read the message. */
const refuseSender = (request: Answerable, report: Report, refused: Refuses, message?: Message.Incoming): Held => {
  const isRequest = message !== undefined && !Message.isMalformed(message) && Message.isRequest(message)
  const era = Refusal.eraOf(request, isRequest ? message : undefined)
  const refusal = Refusal.of(refused, era)
  const fault = HttpRefusalCheck.problemOf(refusal)
  if (fault !== undefined) {
    report.fault(fault)
    return refuse(request, Refusal.failed)
  }
  if (!isRequest) return refuse(request, refusal)
  const failure = Message.failure(message.id, HandlerOutcome.errorOf(refusal, era))
  Refusal.failure(request, refusal.status, failure, refusal.headers)
  return HELD
}

const callerOf = (
  { encrypted, headers, method, moved, path, remoteAddress, services, url }: Passing<never>["arrived"]
): Extract<Caller, { readonly _tag: "Http" }> => {
  const query = url.indexOf("?")
  return {
    _tag: "Http",
    request: {
      method,
      // A router may have removed the beginning of the path.
      url: query === -1 ? path : path + url.slice(query),
      headers,
      remoteAddress,
      encrypted,
      isForwarded: moved !== undefined
    },
    services
  }
}

const isRepeated = ({ rawHeaders }: Arrived, name: string): boolean =>
  rawHeaders !== undefined && repeated(rawHeaders)?.[name] !== undefined
