/**
 * Makes the index of the skills of a server, for `SkillRequests`. The index has the entries of `skills/list`, the files of each skill, and
 * the tree of the directories. This module computes the index from the resources in the registry of the server. After a change of the
 * resources, it computes a new index when the next request needs the index. A skill is visible to a request when the resource of its
 * `SKILL.md` is visible to the request. A file is visible when its own resource is visible.
 */
import * as Feature from "@effect-mcp/core/Feature"
import type * as Resources from "@effect-mcp/core/protocol/Resources"
import type { RegisteredResource, RegistryService } from "@effect-mcp/core/Registry"
import * as ListPage from "@effect-mcp/core/unstable/server/ListPage"
import * as SkillUri from "../format/SkillUri.js"
import type { Skill } from "../Skill.js"
import * as Skills from "../Skills.js"

/** The resource of a file of a skill. */
export interface FileResource extends RegisteredResource {
  readonly skill: Skill<any>
  readonly stored: Skills.SkillResource | undefined
}

export const isFile = (resource: RegisteredResource | undefined): resource is FileResource =>
  resource !== undefined && "skill" in resource

/** Returns whether a resource is the `SKILL.md` of a skill. The URI of this resource is the URI of the skill. */
export const isSkill = (resource: RegisteredResource | undefined): resource is FileResource =>
  isFile(resource) && resource.skill.uri === resource.advertised.uri

export interface Index {
  readonly revision: number
  /** All files, by URI. */
  readonly files: ReadonlyArray<[uri: string, file: FileResource]>
  /** The skills, in the order of their URIs. */
  readonly skills: ReadonlyArray<readonly [uri: string, skill: FileResource]>
  readonly entryOf: (skill: FileResource) => Skills.Skill
  /** Whether there are files that some requests must not see. */
  readonly isFiltered: boolean
  readonly directories: Directories
}

/**
 * The files and directories in each directory. The outer key is the URI of the directory, the inner key is the URI of the file or directory
 * in it.
 */
export type Directories = ReadonlyMap<string, ReadonlyMap<string, Resources.Resource>>

/**
 * Makes a function that returns the index of a registry. The function returns the same object until the registry adds or removes a
 * resource.
 */
export const make = ({ resources }: RegistryService): () => Index => {
  let known: Index | undefined
  return () => known?.revision === resources.revision ? known : known = compute(resources.revision, [...resources])
}

const compute = (revision: number, all: ReadonlyArray<readonly [string, RegisteredResource]>): Index => {
  const files = all.filter((entry): entry is [string, FileResource] => isFile(entry[1]))
  const skills = ListPage.sorted(files.filter(([, file]) => isSkill(file)))
  const byRoot = new Map(
    skills.map(([uri, skill]) => [SkillUri.root(uri)!, { skill, files: [] as Array<FileResource> }])
  )
  for (const [uri, file] of files) {
    for (const directory of SkillUri.directories(uri)) {
      const around = byRoot.get(directory)
      // A skill may be inside the directory of another skill. A file of the inner skill may be hidden from a request to which the outer
      // skill is visible. Then the entry of the outer skill must not contain this file.
      if (around !== undefined && (!Feature.mayBeHidden(file) || file.around === around.skill.around)) {
        around.files.push(file)
      }
    }
  }
  const entries = new Map<FileResource, Skills.Skill>()
  let directories: Directories | undefined
  return {
    revision,
    files,
    skills,
    isFiltered: files.some(([, file]) => Feature.mayBeHidden(file)),
    entryOf: (skill) => {
      let entry = entries.get(skill)
      if (entry === undefined) {
        entries.set(skill, entry = entryOf(skill.skill, byRoot.get(SkillUri.root(skill.skill.uri)!)!.files))
      }
      return entry
    },
    get directories() {
      return directories ??= directoriesOf(files)
    }
  }
}

const entryOf = ({ frontmatter, uri }: Skill<any>, files: ReadonlyArray<FileResource>): Skills.Skill => {
  const resources = files.flatMap(({ stored }) => stored === undefined ? [] : [stored])
  return {
    uri,
    frontmatter,
    resources: resources.length < files.length ? "dynamic" : resources.sort((a, b) => a.uri < b.uri ? -1 : 1)
  }
}

/** Returns the contents of all directories above these files, including the directories above the skills. */
export const directoriesOf = (files: ReadonlyArray<readonly [string, FileResource]>): Directories => {
  const directories = new Map<string, Map<string, Resources.Resource>>()
  const add = (directory: string, child: Resources.Resource): void => {
    const children = directories.get(directory)
    if (children === undefined) directories.set(directory, new Map([[child.uri, child]]))
    else children.set(child.uri, child)
  }
  const addAncestors = (uri: string): void => {
    const [innermost, ...above] = SkillUri.directories(uri)
    let child = innermost
    for (const directory of above) {
      add(directory, { uri: child!, name: decodeURIComponent(SkillUri.nameOf(child!)), mimeType: Skills.DIRECTORY })
      child = directory
    }
  }
  for (const [uri, file] of files) {
    add(SkillUri.directories(uri)[0]!, file.advertised)
    addAncestors(uri)
    if (!isSkill(file)) continue
    for (const empty of file.skill.emptyDirectories) {
      if (!directories.has(empty)) directories.set(empty, new Map())
      addAncestors(`${empty}/`)
    }
  }
  return directories
}
