// What the commands share: the database of the register, opened for one command, and how a command fails.
import { type Command, Option } from 'commander'
import { checkProgramMigrations, createMillrace, type Millrace, MillraceError } from 'millrace'
import { contracts } from '../contracts.ts'
import { LipasDatabase } from '../database/pool.ts'
import { NotAnOlderQueue } from '../import/legacy-store.ts'
import { lipasMigrations } from '../lipas.ts'
import { SettingsUnusable } from '../settings.ts'

export interface Register {
  readonly millrace: Millrace
  readonly database: LipasDatabase
}

/** A command cannot do what it was asked: said without a stack. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

const MIGRATE = 'npx millrace migrate workloads/lipas/dist/src/index.js'

export const databaseOption = () => new Option('--database-url <url>', 'the database of LIPAS').env('DATABASE_URL')

export async function withRegister<Value>(
  url: string | undefined,
  work: (register: Register) => Promise<Value>,
): Promise<Value> {
  if (url === undefined || url === '') {
    const example = 'postgres://user@localhost:5432/lipas'
    throw new Refused(`No database is given. Set DATABASE_URL or pass --database-url, for instance ${example}.`)
  }
  await checkProgramMigrations(url, lipasMigrations, MIGRATE)
  const database = openDatabase(url)
  const millrace = createMillrace({ database: url, jobs: [...contracts] })
  try {
    return await work({ millrace, database })
  } finally {
    await millrace.close()
    await database.close()
  }
}

export function openDatabase(url: string): LipasDatabase {
  const database = new LipasDatabase()
  // An idle connection that breaks is told by the next statement.
  database.open(url, { max: 2, onError: () => {} })
  return database
}

/** Says what went wrong and ends with code 1. What is not meant for people keeps its stack. */
export function fail(command: Command, error: unknown): never {
  const { message, stack, code } = error as Error & { code?: unknown }
  const known = [Refused, MillraceError, SettingsUnusable, NotAnOlderQueue].some((each) => error instanceof each)
  // Of Node and Postgres: no connection, no such database, no such user.
  const isRefusal = typeof code === 'string'
  command.error(`error: ${known || isRefusal ? message || code : (stack ?? message)}`, { exitCode: 1 })
}
