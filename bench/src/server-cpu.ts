// How much processor time all processes of the Postgres server have used, those that have ended included. Only where the
// server is our own and Linux tells.
import { readdir, readFile } from 'node:fs/promises'
import type { Bench } from './bench.ts'

/** What /proc counts in, on every Linux that Node runs on. */
const TICK_US = 10_000

/** Answers with a function that reads the time in microseconds, or with nothing where it cannot be read. */
export async function serverCpu({ pool, environment }: Bench): Promise<(() => Promise<number>) | undefined> {
  if (process.platform !== 'linux' || !environment.isThrowAway) return undefined
  const { rows } = await pool.query<{ file: string }>(`select pg_read_file('postmaster.pid') as file`)
  const postmaster = Number(rows[0]?.file.split('\n')[0])
  return async () => {
    const stats = (await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf))).filter(
      (stat) => stat !== undefined,
    )
    const own = stats.filter(({ pid, parent }) => pid === postmaster || parent === postmaster)
    const ended = own.find(({ pid }) => pid === postmaster)?.endedChildrenTicks ?? 0
    return own.reduce((sum, { ticks }) => sum + ticks, ended) * TICK_US
  }
}

/** The fields after the command, which is in brackets and may hold anything. */
async function statOf(name: string) {
  const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]))
  return {
    pid: Number(name),
    parent,
    ticks: (user ?? 0) + (system ?? 0),
    endedChildrenTicks: (endedUser ?? 0) + (endedSystem ?? 0),
  }
}

export const NO_SERVER_CPU =
  'The processor time of the server is left out: it is known only of a throw-away server on Linux.'
