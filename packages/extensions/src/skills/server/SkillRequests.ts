/**
 * Contains the handlers of the requests `skills/list`, `skills/get` and `resources/directory/read`, for `SkillsServer`. The handlers answer
 * from the `SkillIndex`. An answer contains only skills that are visible to the request, and a directory contains only files that are
 * visible to the request. Clients read the files with `resources/read`. The server itself answers these requests, because the files are
 * resources.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 */
import type { Hints } from "@effect-mcp/core/CacheHints"
import * as Feature from "@effect-mcp/core/Feature"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import * as Version from "@effect-mcp/core/protocol/Version"
import type { Registry, RegistryService } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as ListPage from "@effect-mcp/core/unstable/server/ListPage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Skills from "../Skills.js"
import * as SkillIndex from "./SkillIndex.js"

export interface Options {
  readonly pageSize: number
  readonly hints: Hints | undefined
}

export const layer = (
  registry: RegistryService,
  { hints, pageSize }: Options
): Layer.Layer<never, never, Registry> => {
  const { get, list, readDirectory } = Skills.extension.requests
  const index = SkillIndex.make(registry)

  /**
   * Adds the caching hints of the option `cache` to a result, if the request has revision 2026-07-28 or later. Later the server adds its
   * own hints for members that are still missing.
   */
  const hinted = <A extends object>(isPrivate: boolean, result: A) =>
    Effect.map(RequestContext, ({ version }): A & Hints =>
      Version.isModern(version)
        ? { ...hints, ...(isPrivate ? { cacheScope: "private" } : undefined), ...result }
        : result)

  return Layer.mergeAll(
    MethodHandler.shared(list, ({ cursor }) =>
      Effect.gen(function*() {
        const { entryOf, skills } = index()
        const isFiltered = skills.some(([, skill]) => Feature.mayBeHidden(skill))
        const seen = isFiltered ? ListPage.sorted(yield* Feature.onlyVisible(skills)) : skills
        const { items, ...page } = yield* EffectInternals.fromEither(ListPage.make("skills", seen, cursor, pageSize))
        return yield* hinted(isFiltered, { skills: items.map(entryOf), ...page })
      })),
    MethodHandler.shared(get, ({ uri }) =>
      Effect.gen(function*() {
        const found = registry.resources.get(uri)
        if (!SkillIndex.isSkill(found) || !(yield* Feature.isVisible(found))) {
          const message = `No skill is served at ${shortened(uri)}: give the URI of the ${Skills.FILE} of a skill`
          return yield* new InvalidParams({ message })
        }
        return yield* hinted(Feature.mayBeHidden(found), { skill: index().entryOf(found) })
      })),
    MethodHandler.shared(readDirectory, ({ cursor, uri }) =>
      Effect.gen(function*() {
        const { directories, files, isFiltered } = index()
        const children = (isFiltered ? SkillIndex.directoriesOf(yield* Feature.onlyVisible(files)) : directories).get(
          uri
        )
        if (children === undefined) {
          const message = `${
            shortened(uri)
          } is not a directory of a skill: give the URI of a directory, without a slash at the end`
          return yield* new InvalidParams({ message })
        }
        const { items, ...page } = yield* EffectInternals.fromEither(
          ListPage.make("directory", ListPage.sorted(children), cursor, pageSize)
        )
        return { resources: items, ...page }
      }))
  )
}

const shortened = (uri: string): string => uri.length > 128 ? `${uri.slice(0, 128)}…` : uri
