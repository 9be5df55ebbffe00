import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises'

const rotateAtBytes = 16_000_000

/** What one run of a server writes to its log file, apart from what earlier runs wrote. */
export interface ServerLog {
  readonly file: string
  /** Where this run begins. */
  readonly start: number
  /** For the server's stdout and stderr; close it once the server has it. */
  readonly handle: FileHandle
}

export async function openServerLog(file: string): Promise<ServerLog> {
  const size = await sizeOf(file)
  if (size > rotateAtBytes) await rename(file, `${file}.1`)
  const handle = await open(file, 'a', 0o600)
  return { file, start: size > rotateAtBytes ? 0 : size, handle }
}

export async function readLog(log: ServerLog): Promise<string> {
  return (await readFile(log.file)).subarray(log.start).toString()
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n')
}

async function sizeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
