// A client for commands that look at jobs or change them: which database, which workload, and how a failure is told.
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { createMillrace, type Duration, encryptionFrom, type Logger, type Millrace } from 'millrace'
import { DEFAULT_SCHEMA, SCHEMA_VARIABLE } from './commands/worker-options.ts'
import { type Database, openForLook } from './database.ts'
import { developmentKeys } from './development-keys.ts'
import { hasEmbedded } from './embedded.ts'
import { fail, Refused } from './failure.ts'
import { remoteClient } from './remote/client.ts'
import type { Operations } from './remote/operations.ts'
import { adminUrlOf, adminUrlOption, demandDatabase, refuseLocalOptions } from './remote/target.ts'
import { watch } from './watch.ts'
import type { Workload } from './workload.ts'
import { loadWorkload, WorkloadUnusable } from './workload-module.ts'

export interface ClientOptions {
  readonly databaseUrl?: string
  readonly adminUrl?: string
  /** Null: no workload, not even the one that package.json names. */
  readonly module?: string | null
  readonly json?: true
  /** See watch.ts. */
  readonly watch?: true
  readonly every?: Duration
}

/** Options of every command that talks to the database. */
export function addClientOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--database-url <url>', "the database; without it, the project's embedded one").env('DATABASE_URL'),
    )
    .option('--json', 'print JSON')
}

/** Options of the commands that also work through an admin API. */
export const addRemoteOptions = (command: Command): Command => addClientOptions(command).addOption(adminUrlOption())

/** For commands that need to know the job types or workflows. */
export function addModuleOption(command: Command): Command {
  return command.addOption(
    new Option('--module <module>', 'the workload; default: "millrace": { "module": … } in package.json').env(
      'MILLRACE_MODULE',
    ),
  )
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export interface Opened {
  readonly millrace: Millrace
  /** Undefined: none is named, and the command can do without. */
  readonly workload: Workload | undefined
  readonly databaseUrl: string
}

/** Runs `work` with a client and closes it; a failure is told in one line and ends the process with code 1. */
export async function withClient(
  command: Command,
  options: ClientOptions,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  try {
    demandDatabase(command)
  } catch (error) {
    fail(command, error)
  }
  await withDatabase(command, options, work)
}

interface Reached {
  readonly millrace: Operations
  /** Under which name changes are written down. `by`: as the options say. */
  author(by: string): Promise<string>
}

/** The same for commands that also work through an admin API. */
export async function withClientOrApi(
  command: Command,
  options: ClientOptions,
  work: (reached: Reached) => Promise<void>,
): Promise<void> {
  const url = adminUrlOf(command)
  if (url === undefined)
    return withDatabase(command, options, ({ millrace }) => work({ millrace, author: async (by) => by }))
  try {
    refuseLocalOptions(command)
    const act = () => {
      // A new one for each look: it remembers the jobs that it has read.
      const millrace = remoteClient(url)
      return work({ millrace, author: () => millrace.author() })
    }
    await (options.watch ? watch(command, options, act) : act())
  } catch (error) {
    fail(command, error)
  }
}

async function withDatabase(
  command: Command,
  options: ClientOptions,
  work: (opened: Opened) => Promise<void>,
): Promise<void> {
  let failure: { error: unknown } | undefined
  const resources: { stop(): Promise<void> }[] = []
  const release = async () => {
    for (const each of resources.splice(0).reverse()) await each.stop()
  }
  const leave = onInterrupt(release)
  try {
    const workload = await namedWorkload(options.module)
    const schema = process.env[SCHEMA_VARIABLE] || DEFAULT_SCHEMA
    const database = await existingDatabase(options.databaseUrl, schema)
    resources.push(database)
    const encryption = encryptionFrom(process.env) ?? (await developmentKeys(database))?.encryption
    const millrace = createMillrace({
      database: database.url,
      schema,
      jobs: workload?.jobs ?? [],
      schedules: workload?.schedules ?? [],
      workflows: workload?.workflows ?? [],
      maxConnections: 2,
      logger: silent,
      ...(encryption && { encryption }),
    })
    resources.push({ stop: () => millrace.close() })
    const act = () => work({ millrace, workload, databaseUrl: database.url })
    if (options.watch) {
      leave()
      await watch(command, options, act)
    } else await act()
  } catch (error) {
    failure = { error }
  }
  await release()
  leave()
  if (failure !== undefined) fail(command, failure.error)
}

/** Without the workload a mistyped name would be taken for one that another program knows. `what`: "Names are checked". */
export function demandWorkload(workload: Workload | undefined, what: string): asserts workload is Workload {
  if (workload !== undefined) return
  throw new Refused(
    `${what} against the workload, and none is known here. Pass --module, or run this where package.json names it.`,
  )
}

/** A database that was started for this command must not outlive it. */
function onInterrupt(release: () => Promise<void>): () => void {
  const hear = () => void release().finally(() => process.exit(130))
  process.once('SIGINT', hear)
  process.once('SIGTERM', hear)
  return () => {
    process.off('SIGINT', hear)
    process.off('SIGTERM', hear)
  }
}

/** Looking at a database that is made for the look would tell a tired operator that all is well. */
export async function existingDatabase(url: string | undefined, schema: string): Promise<Database> {
  if (!url && !(await hasEmbedded())) {
    throw new Refused(
      'No database is given, and this project has no embedded one. Set DATABASE_URL or pass --database-url, or start `millrace dev` here.',
    )
  }
  return openForLook(url, schema)
}

/** The workload of `--module` or of the package in the working directory. */
export async function namedWorkload(named: string | null | undefined): Promise<Workload | undefined> {
  const module = named === undefined ? moduleOfPackage() : named
  return module == null ? undefined : loadWorkload(module)
}

export function moduleOfPackage(): string | undefined {
  let text: string
  try {
    text = readFileSync('package.json', 'utf8')
  } catch {
    return undefined
  }
  const module = JSON.parse(text).millrace?.module
  if (module === undefined || typeof module === 'string') return module
  throw new WorkloadUnusable(
    'package.json names `millrace.module`, but not as a text. Expected the path of a workload.',
  )
}
