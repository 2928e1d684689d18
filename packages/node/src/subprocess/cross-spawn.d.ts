/**
 * The part of `cross-spawn` that is used: it parses a command. Its own function to start a program is not used, because it hides the exit
 * of the program from the caller.
 */
declare module "cross-spawn" {
  interface Parsed {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly options: { readonly windowsVerbatimArguments?: boolean }
    /** The file of the program; `null` or `undefined` when there is no such file. */
    readonly file: string | null | undefined
  }
  const CrossSpawn: {
    readonly _parse: (
      command: string,
      args: ReadonlyArray<string>,
      options: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string | undefined }
    ) => Parsed
  }
  export default CrossSpawn
}
