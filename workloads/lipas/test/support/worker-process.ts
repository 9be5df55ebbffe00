// A worker of LIPAS as a process of its own, with the services of a test's sandbox.
import { fileURLToPath } from 'node:url'
import { Program } from '../../../../packages/cli/test/support/program.ts'
import type { Lipas } from './lipas.ts'

const MODULE = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url))

export const startWorkerProcess = (t: Lipas, args: readonly string[] = []): Program =>
  new Program(['work', MODULE, ...args], {
    ...{ DATABASE_URL: t.url, LIPAS_DISTANCE_MODE: 'euclid' },
    ...t.sandbox.variables,
  })
