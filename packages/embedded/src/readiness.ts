import { type Credentials, serverVersion } from './connection.ts'
import { poll } from './poll.ts'
import { findPostmaster } from './postmaster.ts'

export interface Expectation {
  readonly credentials: Credentials
  readonly dataDirectory: string
  readonly isRunning: () => boolean
  readonly withinMs: number
}

/** Ready means that a connection succeeds. Answers with the server's version, or undefined if it ended instead. */
export async function awaitReady(expected: Expectation): Promise<string | undefined> {
  const { credentials, withinMs } = expected
  let cause: unknown
  const expired = () => new Error(`no connection to port ${credentials.port} within ${withinMs / 1000} s`, { cause })
  const answer = await poll<{ version?: string }>(
    async () => {
      if (!expected.isRunning()) return {}
      try {
        return { version: await serverVersion(credentials) }
      } catch (error) {
        cause = error
        await rejectWrongPassword(error, expected)
        return undefined
      }
    },
    { withinMs, expired },
  )
  return answer.version
}

/** A refusal may also come from another server that has our port, shortly before ours gives up for that reason. */
async function rejectWrongPassword(error: unknown, { credentials, dataDirectory }: Expectation): Promise<void> {
  if ((error as { code?: string }).code !== '28P01') return
  const postmaster = await findPostmaster(dataDirectory)
  if (postmaster?.isReady && postmaster.port === credentials.port) {
    throw new Error('it refuses the password that is stored with the cluster', { cause: error })
  }
}
