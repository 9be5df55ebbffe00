// The same arrival of small tenants at a peer that bounds how many jobs of a group run at once: pg-boss. It runs in a
// process of its own on the Node that it needs, in a database of its own on the same server.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../bench.ts'
import { arePeersInstalled, installPeers } from '../peers/install.ts'
import type { Trial } from '../rounds.ts'
import { CannotMeasure } from '../suite.ts'
import { JOBS_EACH, SMALL_TENANTS } from './arrivals.ts'
import { HANDLER_MS, SLOTS } from './tenant-jobs.ts'

const script = fileURLToPath(new URL('../../peers/pg-boss-groups.js', import.meta.url))
const TIMEOUT_MS = 300_000

export const NO_PEERS =
  'SKIPPED: pg-boss groups, because the peers are not installed; "npm run bench -- peers" installs them'

/** None when the peers are not installed: they are 250 MB that nobody asked for. */
export async function bossGroups(
  bench: Bench,
  trials: readonly { name: string; backlog: number }[],
): Promise<Trial<'wait p95' | 'idle'>[]> {
  if (!arePeersInstalled()) return []
  const node = await installPeers(bench.progress)
  return trials.map(({ name, backlog }) => ({
    name,
    units: { 'wait p95': 'ms', idle: 'of the slots' },
    measure: async () => {
      const { wait, idle } = await arrive(bench, node, backlog)
      return { 'wait p95': wait, idle }
    },
  }))
}

async function arrive(bench: Bench, node: string, backlog: number): Promise<{ wait: number; idle: number }> {
  const order = {
    slots: SLOTS,
    handlerMs: HANDLER_MS,
    backlog,
    smallGroups: SMALL_TENANTS,
    jobsEach: JOBS_EACH,
    ms: (bench.options.seconds ?? 1) * 1_000,
  }
  try {
    const args = [script, await bench.freshDatabase(), JSON.stringify(order)]
    const { stdout } = await promisify(execFile)(node, args, { timeout: TIMEOUT_MS })
    return JSON.parse(stdout)
  } catch (error) {
    throw new CannotMeasure(`pg-boss groups: ${(error as { stderr?: string }).stderr || (error as Error).message}`)
  }
}
