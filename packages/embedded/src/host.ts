import { UnsupportedPlatformError } from './errors.ts'
import { chooseServerUser, type ServerUser } from './server-user.ts'

/** Facts about where we run, read once per start so that every decision sees the same ones. */
export interface Host {
  readonly env: NodeJS.ProcessEnv
  readonly uid: number
  /** Undefined: Postgres runs as ourselves. */
  readonly serverUser: ServerUser | undefined
}

export async function surveyHost(env: NodeJS.ProcessEnv): Promise<Host> {
  const uid = process.geteuid?.()
  if (uid === undefined) throw new UnsupportedPlatformError(process.platform)
  return { env, uid, serverUser: await chooseServerUser(env) }
}
