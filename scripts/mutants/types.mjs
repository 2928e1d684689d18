// Whether an edit compiles: one language service over the sources of a workspace, so that a question costs about a second. An
// edit that only leaves a name unused compiles.
import { existsSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { readJson } from "../workspace.mjs"

/** Takes the sources of a workspace, and answers whether a file of it has no new errors with another text. */
export const compiler = (root, files) => {
  const base = readJson(join(root, "tsconfig.base.json"))?.compilerOptions ?? {}
  const { options } = ts.convertCompilerOptionsFromJson(base, root)
  const settings = {
    ...options,
    ...{ composite: false, incremental: false, noEmit: true, declarationMap: false, sourceMap: false },
    ...{ noUnusedLocals: false, noUnusedParameters: false, noErrorTruncation: false },
    types: existsSync(join(root, "node_modules/@types/node")) ? ["node"] : []
  }
  const texts = new Map(files.map(({ path, text }) => [join(root, path), text]))
  const versions = new Map()
  const service = ts.createLanguageService({
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: (name) => String(versions.get(name) ?? 0),
    getScriptSnapshot: (name) => {
      const text = texts.get(name) ?? ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => settings,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath
  })
  const errors = (name) => {
    const syntax = service.getSyntacticDiagnostics(name)
    return (syntax.length > 0 ? syntax : service.getSemanticDiagnostics(name)).map(({ code }) => code)
  }
  const change = (name, text) => {
    texts.set(name, text)
    versions.set(name, (versions.get(name) ?? 0) + 1)
  }
  return ({ path, text }, changed) => {
    const name = join(root, path)
    change(name, changed)
    const now = errors(name)
    change(name, text)
    if (now.length === 0) return true
    const before = errors(name)
    return now.length <= before.length && now.every((code) => before.includes(code))
  }
}
