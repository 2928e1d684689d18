/**
 * The requests of the extension: `skills/list`, `skills/get` and `resources/directory/read`. They show each request the skills
 * and the files that it sees. The files themselves are resources, read by `resources/read`.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 */
import { InvalidParams } from "@effect-mcp/protocol/McpError"
import * as Skills from "@effect-mcp/protocol/Skills"
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CacheOptions from "../CacheOptions.js"
import * as PagedList from "../features/PagedList.js"
import * as Surroundings from "../features/Surroundings.js"
import * as Handler from "../Handler.js"
import type { Registry, RegistryService } from "../Registry.js"
import { RequestContext } from "../RequestContext.js"
import * as Subject from "../runtime/Subject.js"
import * as SkillIndex from "./SkillIndex.js"

export interface Options {
  readonly pageSize: number
  readonly hints: CacheOptions.Hints | undefined
}

export const layer = (
  registry: RegistryService,
  { hints, pageSize }: Options
): Layer.Layer<never, never, Registry> => {
  const { get, list, readDirectory } = Skills.extension.requests
  const index = SkillIndex.make(registry)
  const page = PagedList.serve({
    list: "skills",
    pageSize,
    entries: {
      get revision() {
        return index().revision
      },
      [Symbol.iterator]: () => index().skills[Symbol.iterator]()
    },
    advertised: (skill: SkillIndex.FileResource) => index().entryOf(skill),
    result: (skills): { readonly skills: ReadonlyArray<Skills.Skill> } => ({ skills })
  })

  /** Adds the hints for caches, which only results of the modern era have; the server adds those that are missing. */
  const hinted = <A extends object>(own: CacheOptions.Hints | undefined, result: A) =>
    Effect.map(RequestContext, ({ version }): A => Version.isModern(version) ? { ...hints, ...own, ...result } : result)

  return Layer.mergeAll(
    Handler.shared(list, ({ cursor }) => {
      const { effect, hints: own } = page(cursor)
      // `PagedList` made it of what `result` returned.
      return Effect.flatMap(
        effect as Effect.Effect<{ readonly skills: ReadonlyArray<Skills.Skill> }, unknown>,
        (page) => hinted(own, page)
      )
    }),
    Handler.shared(get, ({ uri }) =>
      Effect.gen(function*() {
        const found = registry.resources.get(uri)
        if (!SkillIndex.isSkill(found) || !(yield* Surroundings.isVisible(found))) {
          const message = `No skill is served at ${Subject.quotable(uri)}: give the URI of its ${Skills.FILE}`
          return yield* new InvalidParams({ message })
        }
        const own = Surroundings.mayBeHidden(found) ? CacheOptions.onlyForSender : undefined
        return yield* hinted(own, { skill: index().entryOf(found) })
      })),
    Handler.shared(readDirectory, ({ cursor, uri }) =>
      Effect.gen(function*() {
        const { directories, files, isFiltered } = index()
        const children = (isFiltered ? SkillIndex.directoriesOf(yield* Surroundings.visible(files)) : directories).get(
          uri
        )
        if (children === undefined) {
          const message = `${Subject.quotable(uri)} is no directory of a skill: its URI has no slash at the end`
          return yield* new InvalidParams({ message })
        }
        return yield* PagedList.page(
          { list: "directory", pageSize, result: (resources) => ({ resources }) },
          children,
          cursor
        )
      }))
  )
}
