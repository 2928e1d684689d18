/**
 * Finds the tools of a list that fit the words of a query, the best first, with the library MiniSearch. Words in the name of a tool count
 * most, then words in its title, its description and its arguments. The index compares words without their endings, and some verbs with the
 * same meaning count as one word. `ToolSearch` uses one index for each list of tools.
 */
import * as Predicate from "effect/Predicate"
import MiniSearch from "minisearch"
import type { ModelTool } from "../ToolList.js"

export interface ToolIndex {
  /** Returns at most `limit` tools that fit the query, the best first. */
  readonly search: (query: string, limit: number) => ReadonlyArray<ModelTool>
}

const indexes = new WeakMap<ReadonlyArray<ModelTool>, ToolIndex>()

/** Returns the index of these tools. The index is built once for each array. */
export const of = (tools: ReadonlyArray<ModelTool>): ToolIndex => {
  let index = indexes.get(tools)
  if (index === undefined) indexes.set(tools, index = make(tools))
  return index
}

/** The most characters that the index uses of a query and of each text of a tool. Models and servers may write texts of any length. */
const MAX_QUERY = 1000
const MAX_TEXT = 4000

const boost = { name: 4, title: 3, description: 2, arguments: 0.5, server: 1 }

const make = (tools: ReadonlyArray<ModelTool>): ToolIndex => {
  const index = new MiniSearch({
    fields: Object.keys(boost),
    tokenize: words,
    processTerm: stem,
    searchOptions: { boost, prefix: (term) => term.length > 3, fuzzy: (term) => term.length > 5 ? 0.15 : false }
  })
  index.addAll(tools.map((one, id) => ({ id, ...textsOf(one) })))
  return {
    search: (query, limit) => {
      const given = query.slice(0, MAX_QUERY)
      const asked = new Set(words(given).flatMap((word) => stem(word) ?? [])).size
      return index.search(given)
        .map(({ id, queryTerms, score }) => ({ id: id as number, score: score * (queryTerms.length / asked) }))
        .sort((one, other) => other.score - one.score)
        .slice(0, limit)
        .flatMap(({ id }) => tools[id] ?? [])
    }
  }
}

const textsOf = ({ description, inputSchema, name, server, tool }: ModelTool) => ({
  name,
  title: (tool.title ?? tool.annotations?.title ?? "").slice(0, MAX_TEXT),
  description: description.slice(0, MAX_TEXT),
  arguments: argumentsOf(inputSchema.properties).slice(0, MAX_TEXT),
  server
})

const argumentsOf = (properties: unknown): string =>
  Predicate.isRecord(properties)
    ? Object.entries(properties).map(([name, schema]) =>
      Predicate.isRecord(schema) && typeof schema.description === "string" ? `${name} ${schema.description}` : name
    ).join(" ")
    : ""

/** Returns the words of a text. A name such as `createPullRequest`, `HTTPServer` or `room42` is split into words. */
const words = (text: string): Array<string> =>
  text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/(\p{L})(\p{N})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")

/** Words that say nothing about what a tool does. They are ignored. */
const EMPTY = new Set(
  ("a an and are as at be been by can could do does for from given had has have how i if in into is it its me my not of off on or our " +
    "out so some somebody than that the their them there this to up us use used using want was we when where will with would you your " +
    "please need again whether").split(" ")
)

/** Verbs that mean the same in names of tools. Each verb of a row counts as the first verb of the row. */
const SAME: ReadonlyMap<string, string> = new Map(
  [
    ["create", "add", "new", "make", "open", "post", "start", "begin", "upload", "register", "insert", "write", "give"],
    ["delete", "remove", "drop", "erase", "rid", "kick"],
    ["update", "change", "edit", "modify", "rename", "set", "patch"],
    ["get", "fetch", "read", "show", "view", "retrieve", "see", "look", "download"],
    ["list", "all", "every", "what", "which", "who"],
    ["search", "find"],
    ["schedule", "plan"],
    ["repo", "repository"]
  ].flatMap(([first, ...others]) => others.map((other) => [ending(other), ending(first!)] as const))
)

const stem = (term: string): string | null => {
  const word = term.toLowerCase()
  if (EMPTY.has(word)) return null
  const cut = ending(word)
  return SAME.get(cut) ?? cut
}

/** Returns the word without the ending of a plural or a form of a verb. */
function ending(word: string): string {
  if (word.length <= 3 || /\p{N}/u.test(word)) return word
  const cut = word.replace(/ies$/, "y").replace(/(ss|sh|ch|x)es$/, "$1").replace(/([^s])s$/, "$1")
  const base = cut.length > 5 ? cut.replace(/(ing|ed)$/, "") : cut
  return base.replace(/([^aeiouls])\1$/, "$1").replace(/e$/, "")
}
