import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { surveyHost } from '#src/host'
import { volatileRoot } from '#src/places'
import { stopServer } from '#src/shutdown'

export interface Scratch extends AsyncDisposable {
  readonly path: string
}

/** A directory that the user who runs Postgres can enter, in memory where there is room. Removed afterwards, with the server on `cluster` in it. */
export async function scratchDirectory(): Promise<Scratch> {
  const path = await mkdtemp(join(await volatileRoot(await surveyHost(process.env)), 'millrace-scratch-'))
  await chmod(path, 0o755)
  const remove = async () => {
    await stopServer(join(path, 'cluster', 'data'), 'immediate')
    await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  return { path, [Symbol.asyncDispose]: remove }
}
