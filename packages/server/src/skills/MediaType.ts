/**
 * The media type of a file by its name, for the kinds of files that skills usually have. Other files are text when their bytes
 * are UTF-8, and else bytes.
 */

const types: Readonly<Record<string, string>> = {
  bash: "application/x-sh",
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  mjs: "text/javascript",
  pdf: "application/pdf",
  png: "image/png",
  py: "text/x-python",
  sh: "application/x-sh",
  svg: "image/svg+xml",
  toml: "application/toml",
  ts: "text/x-typescript",
  txt: "text/plain",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip"
}

export const of = (name: string, isText: boolean): string => {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  return Object.hasOwn(types, extension) ? types[extension]! : isText ? "text/plain" : "application/octet-stream"
}
