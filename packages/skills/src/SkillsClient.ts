/**
 * The skills of a server: lists them, loads one, and reads its files. Every content is compared with the digest and the size
 * in the entry of its skill before the application gets it. Nothing is read that the application has not requested, and all
 * that is read comes from the server of the session, whatever a URI looks like.
 *
 * What a skill says is the word of its server, not of the application: a digest shows that content and entry belong together,
 * and not that one of them can be trusted.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @since 0.1.0
 */
import type { CallOptions } from "@effect-mcp/client/CallOptions"
import { type ClientError, NotNegotiated } from "@effect-mcp/client/ClientError"
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import * as Pages from "@effect-mcp/client/Pages"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type * as Resources from "@effect-mcp/protocol/Resources"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SkillCheck from "./client/SkillCheck.js"
import * as Content from "./format/Content.js"
import * as FrontMatter from "./format/FrontMatter.js"
import * as SkillUri from "./format/SkillUri.js"
import { SkillRefused } from "./SkillRefused.js"
import * as Protocol from "./Skills.js"

/**
 * The extension, for the option `extensions` of a client.
 *
 * @category constants
 */
export const extension: typeof Protocol.extension = Protocol.extension

/** @category models */
export interface Options {
  /** How many files a skill may have. Default: 512, which every client must accept. */
  readonly maxFiles?: number | undefined
  /** How many bytes the files of a skill may have together. Default: 16 MiB, which every client must accept. */
  readonly maxBytes?: number | undefined
  /** How many characters the front matter of a `SKILL.md` may have. Default: 16,384. */
  readonly maxFrontMatter?: number | undefined
  /**
   * Whether skills are loaded whose content is generated: nothing can be verified of them but their front matter. Default:
   * false, `load` fails with reason `Dynamic`.
   */
  readonly allowDynamic?: boolean | undefined
}

/**
 * A file of a skill, as its entry describes it.
 *
 * @category models
 */
export interface SkillFile {
  /** Below the directory of the skill. */
  readonly path: string
  readonly uri: string
  /** In bytes. */
  readonly size: number
}

/** @category models */
export interface SkillContent {
  readonly uri: string
  /** As the server said. */
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array
  /** `None` when the bytes are not UTF-8. */
  readonly text: Option.Option<string>
}

/**
 * A skill whose `SKILL.md` was read and verified. Its files are those of the entry that it was loaded from.
 *
 * @category models
 */
export interface LoadedSkill {
  readonly entry: Protocol.Skill
  /** `SKILL.md` without its front matter. */
  readonly instructions: string
  /** Empty when the content of the skill is generated. */
  readonly files: ReadonlyArray<SkillFile>
  /**
   * Reads a file by its path in the skill, as the skill itself refers to it. Fails with `SkillRefused` when the entry does not
   * have the file, and when the content is not the one of the entry: then `get` gives the entry of the skill as it is now.
   */
  readonly read: (path: string, options?: CallOptions) => Effect.Effect<SkillContent, ClientError | SkillRefused>
}

/** @category models */
export interface SkillsService {
  /**
   * The skills that the server lists, page after page; it may have more than it lists. Entries that break the rules of the
   * extension are left out, with a warning in the log; `get` tells more of one of them.
   */
  readonly list: Stream.Stream<Protocol.Skill, ClientError>
  /** The entry of a skill as it is now, by the URI of its `SKILL.md`. */
  readonly get: (uri: string, options?: CallOptions) => Effect.Effect<Protocol.Skill, ClientError | SkillRefused>
  /** Reads the `SKILL.md` of a skill, and verifies it and its front matter. */
  readonly load: (
    entry: Protocol.Skill,
    options?: CallOptions
  ) => Effect.Effect<LoadedSkill, ClientError | SkillRefused>
  /**
   * The children of a directory, by its URI without a slash at the end, as they are now. A file that the entry of a skill does
   * not have is not a file of the skill. Fails with `NotNegotiated` when the server does not list directories.
   */
  readonly readDirectory: (uri: string) => Stream.Stream<Resources.Resource, ClientError | SkillRefused>
}

/**
 * What identifies the content of a skill, for an approval by the user: it changes when a file is added, removed or changed.
 * Store it with the name that the application gives the server. `None` for a skill whose content is generated: an approval
 * cannot be bound to it.
 *
 * @category utils
 */
export const contentId = ({ resources, uri }: Protocol.Skill): Effect.Effect<Option.Option<string>> =>
  resources === "dynamic"
    ? Effect.succeedNone
    : Effect.asSome(Content.sha256(
      new TextEncoder().encode(JSON.stringify([uri, resources.map(({ digest, uri }) => [uri, digest]).sort()]))
    ))

/**
 * The skills of the server of a session. The client must have been given `extension`.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/client/Client"
 * import * as Skills from "@effect-mcp/skills/SkillsClient"
 * import { Effect, Stream } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const skills = Skills.make(yield* Client.Client)
 *   const listed = yield* Stream.runCollect(skills.list)
 *   for (const { frontmatter } of listed) yield* Effect.log(`${frontmatter.name}: ${frontmatter.description}`)
 *   for (const entry of listed) {
 *     if (entry.frontmatter.name !== "refunds") continue
 *     const refunds = yield* skills.load(entry)
 *     yield* Effect.log(refunds.instructions)
 *     yield* Effect.log((yield* refunds.read("forms/large.md")).text)
 *   }
 * })
 * ```
 * @category constructors
 */
export const make = (session: ClientSessionService, options: Options = {}): SkillsService => {
  const limits = {
    maxFiles: options.maxFiles ?? Protocol.limits.files,
    maxBytes: options.maxBytes ?? Protocol.limits.bytes
  }
  const { get, list, readDirectory } = extension.requests
  const entryOf = (uri: string, given: unknown): Either.Either<Protocol.Skill, SkillRefused> =>
    Either.match(decodeEntry(given), {
      onLeft: () =>
        Either.left(
          new SkillRefused({ reason: "Entry", uri, problem: "its entry needs uri, frontmatter and resources" })
        ),
      onRight: (entry) => {
        const refused = SkillCheck.refusal(entry, limits)
        return refused === undefined ? Either.right(entry) : Either.left(refused)
      }
    })

  const page = (cursor: string | undefined) =>
    Effect.flatMap(
      // By its name, so that an entry that is not valid costs only itself.
      session.request(list.name, cursor === undefined ? {} : { cursor }),
      ({ nextCursor, skills }): Effect.Effect<Page, ClientError> =>
        Array.isArray(skills) && (nextCursor === undefined || typeof nextCursor === "string")
          ? Effect.succeed({ skills, nextCursor })
          : Effect.fail(invalid(list.name))
    )

  const read = (uri: string, max: number, call: CallOptions | undefined) =>
    Effect.flatMap(session.readResource(uri, call), (result) => SkillCheck.content(uri, result, max))

  const verified = ({ digest, size, uri }: Protocol.SkillResource, call: CallOptions | undefined) =>
    Effect.gen(function*() {
      const content = yield* read(uri, size, call)
      if (content.bytes.length !== size) return yield* differs("Size", uri)
      if ((yield* Content.sha256(content.bytes)) !== digest) return yield* differs("Digest", uri)
      return content
    })

  return {
    list: Pages.stream(list.name, page, ({ skills }) => skills).pipe(
      Stream.mapEffect((given) =>
        Either.match(entryOf(uriOf(given), given), {
          onLeft: ({ message }) =>
            Effect.as(Effect.logWarning(`A skill of the server is left out: ${message}`), undefined),
          onRight: Effect.succeed
        })
      ),
      Stream.filter((entry) => entry !== undefined)
    ),
    get: (uri, call) =>
      Effect.flatMap(session.request(get.name, { uri }, call), ({ skill }) =>
        Effect.filterOrFail(
          entryOf(uri, skill),
          (entry) => entry.uri === uri,
          () =>
            new SkillRefused({ reason: "Entry", uri, problem: "the server answered with the entry of another skill" })
        )),
    load: (entry, call) =>
      Effect.gen(function*() {
        const { frontmatter, resources, uri } = entry
        const refused = SkillCheck.refusal(entry, limits)
        if (refused !== undefined) return yield* refused
        const root = SkillUri.root(uri)!
        const remaining = yield* Ref.make(limits.maxBytes)
        if (resources === "dynamic" && options.allowDynamic !== true) {
          const problem = "its content is generated, so that nothing of it can be verified: load it with allowDynamic"
          return yield* new SkillRefused({ reason: "Dynamic", uri, problem })
        }
        /** A file without a digest. All that is read counts. */
        const unverified = (uri: string, call: CallOptions | undefined) =>
          Effect.flatMap(Ref.get(remaining), (max) =>
            Effect.tap(read(uri, max, call), ({ bytes }) => Ref.update(remaining, (left) => left - bytes.length)))
        const byUri = new Map(resources === "dynamic" ? [] : resources.map((one) => [one.uri, one]))
        const readFile = (uri: string, call: CallOptions | undefined) =>
          resources === "dynamic" ? unverified(uri, call) : verified(byUri.get(uri)!, call)
        const main = yield* readFile(uri, call)
        const text = yield* Effect.mapError(
          Content.text(main.bytes),
          () =>
            new SkillRefused({ reason: "FrontMatter", uri, problem: "the file is not UTF-8 text" })
        )
        const { body, fields } = yield* Effect.mapError(
          FrontMatter.read(text, options.maxFrontMatter ?? FrontMatter.MAX_LENGTH),
          ({ line, problem }) => new SkillRefused({ reason: "FrontMatter", uri, problem: `line ${line}: ${problem}` })
        )
        if (!FrontMatter.isEqual(fields, frontmatter)) {
          const problem = "its front matter is not the one of its entry: get the entry again, and do not use this one"
          return yield* new SkillRefused({ reason: "FrontMatter", uri, problem })
        }
        const files = Array.from(byUri.values(), ({ size, uri }) => ({ path: SkillUri.within(root, uri)!, uri, size }))
        const byPath = new Map(files.map(({ path, uri }) => [path, uri]))
        return {
          entry,
          instructions: body,
          files,
          read: (path, call) =>
            Effect.gen(function*() {
              const below = path.startsWith("./") ? path.slice(2) : path
              const uri = resources === "dynamic" ? uriBelow(root, below) : byPath.get(below)
              if (uri === undefined) {
                const problem =
                  "the entry of the skill has no such file: give its path in the skill, as in forms/large.md"
                return yield* new SkillRefused({ reason: "Unlisted", uri: path, problem })
              }
              const { bytes, mimeType } = yield* readFile(uri, call)
              return { uri, mimeType, bytes, text: Either.getRight(Content.text(bytes)) }
            })
        }
      }),
    readDirectory: (uri) =>
      Stream.unwrap(Effect.map(session.extension(extension), (settings) => {
        if (Option.isSome(settings) && settings.value.server.directoryRead !== true) {
          return Stream.fail(
            new NotNegotiated({
              method: readDirectory.name,
              version: session.version,
              capability: `extensions.${extension.id}.directoryRead`,
              declaredBy: "server"
            })
          )
        }
        return Pages.stream(
          readDirectory.name,
          (cursor) => session.request(readDirectory, cursor === undefined ? { uri } : { uri, cursor }),
          ({ resources }) => resources
        ).pipe(Stream.mapEffect((child) => {
          const path = SkillUri.within(uri, child.uri)
          return path === undefined || path.includes("/")
            ? new SkillRefused({ reason: "Directory", uri, problem: "the server listed what is not in the directory" })
            : Effect.succeed(child)
        }))
      }))
  }
}

interface Page {
  readonly skills: ReadonlyArray<unknown>
  readonly nextCursor?: string | undefined
}

const decodeEntry = Schema.decodeUnknownEither(Protocol.Skill)

const uriOf = (entry: unknown): string => {
  const { uri } = Object(entry) as JsonObject
  return typeof uri === "string" ? uri : "an entry without a URI"
}

const invalid = (method: string) =>
  new TransportError({ reason: "Decode", message: `The result of "${method}" is not valid: it is no page of skills` })

const differs = (reason: "Size" | "Digest", uri: string) =>
  new SkillRefused({
    reason,
    uri,
    problem:
      `the ${reason === "Size" ? "size" : "digest"} of the content is not the one in the entry of the skill: it may ` +
      "have changed since, so get the entry again"
  })

const uriBelow = (root: string, path: string): string | undefined => {
  const uri = SkillUri.fromPath(path)
  return uri === undefined ? undefined : `${root}/${uri.slice("skill://".length)}`
}
