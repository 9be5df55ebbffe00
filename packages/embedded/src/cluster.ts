import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { VersionMismatchError } from './errors.ts'
import type { Host } from './host.ts'
import { runInitdb } from './initdb.ts'
import type { ServerUser } from './server-user.ts'

/** Data that a server can run on, and what is needed to run it. */
export interface Cluster {
  readonly dataDirectory: string
  readonly logFile: string
  readonly password: string
  readonly binaries: Binaries
  readonly serverUser: ServerUser | undefined
}

export interface ClusterPlan {
  readonly host: Host
  readonly binaries: Binaries
  /** Where `data`, `password` and `postgres.log` go. */
  readonly directory: string
  readonly isThrowAway: boolean
}

/** Creates the data if there is none yet. One caller at a time; it may die anywhere and the next one starts over. */
export async function prepareCluster(plan: ClusterPlan): Promise<Cluster> {
  const { binaries, directory } = plan
  const dataDirectory = join(directory, 'data')
  if (!existsSync(dataDirectory)) await createData(plan, dataDirectory)
  const dataMajor = (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).trim()
  if (dataMajor !== binaries.major) {
    throw new VersionMismatchError(dataDirectory, dataMajor, binaries.binDirectory, binaries.major)
  }
  return {
    dataDirectory,
    logFile: join(directory, 'postgres.log'),
    password: await readFile(join(directory, 'password'), 'utf8'),
    binaries,
    serverUser: await ownerOf(dataDirectory, plan.host),
  }
}

async function createData(plan: ClusterPlan, dataDirectory: string): Promise<void> {
  const { directory } = plan
  for (const name of await readdir(directory)) {
    if (name.startsWith('unfinished-')) await rm(join(directory, name), { recursive: true })
  }
  const password = randomBytes(24).toString('base64url')
  await writeFile(join(directory, 'password'), password, { mode: 0o600 })
  const unfinished = await makeWorkshop(plan, password)
  await runInitdb(plan, unfinished)
  await rename(join(unfinished, 'data'), dataDirectory)
  await rm(unfinished, { recursive: true })
}

/** A directory in which initdb may write, and with the password it is to set. */
async function makeWorkshop({ directory, host }: ClusterPlan, password: string): Promise<string> {
  const workshop = join(directory, `unfinished-${randomBytes(4).toString('hex')}`)
  await mkdir(workshop, { mode: 0o700 })
  await writeFile(join(workshop, 'password'), password, { mode: 0o600 })
  const user = host.serverUser
  // The directory last: once it is theirs, root must not touch files in it that they might have replaced by links.
  if (user) for (const path of [join(workshop, 'password'), workshop]) await chown(path, user.uid, user.gid)
  return workshop
}

/** Postgres insists on running as the owner of its data, who need not be the user that we would choose today. */
async function ownerOf(dataDirectory: string, host: Host): Promise<ServerUser | undefined> {
  if (host.serverUser === undefined) return undefined
  const { uid, gid } = await stat(dataDirectory)
  return uid === host.serverUser.uid ? host.serverUser : { name: `uid ${uid}`, uid, gid }
}
