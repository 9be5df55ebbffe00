import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ClusterPlan } from './cluster.ts'
import { InitFailedError } from './errors.ts'
import { asUser } from './server-user.ts'

const initDeadlineMs = 60_000

/** Makes `data` in a directory that the server's user may write and that holds the `password` to set. */
export async function runInitdb(plan: ClusterPlan, workshop: string): Promise<void> {
  try {
    await initdb(plan, workshop, 'C.UTF-8').catch(async (error) => {
      // Not every system has that locale; with plain C the encoding is still UTF-8, only case folding stays ASCII.
      if (!/invalid locale|locale name/i.test(outputOf(error))) throw error
      await rm(join(workshop, 'data'), { recursive: true, force: true })
      await initdb(plan, workshop, 'C')
    })
  } catch (error) {
    throw new InitFailedError(join(workshop, 'data'), outputOf(error), error)
  }
}

async function initdb({ binaries, host, isThrowAway }: ClusterPlan, workshop: string, locale: string): Promise<void> {
  const args = [
    `--pgdata=${join(workshop, 'data')}`,
    `--pwfile=${join(workshop, 'password')}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    `--locale=${locale}`,
    '--no-instructions',
    ...(isThrowAway ? ['--no-sync'] : []),
  ]
  await promisify(execFile)(join(binaries.binDirectory, 'initdb'), args, {
    ...asUser(host.serverUser),
    // initdb wants to know its working directory, and ours may be closed to its user.
    cwd: workshop,
    env: binaries.env,
    timeout: initDeadlineMs,
  })
}

function outputOf(error: unknown): string {
  const { stdout = '', stderr = '', message = '' } = error as { stdout?: string; stderr?: string; message?: string }
  return `${stdout}${stderr}`.trim() || message
}
