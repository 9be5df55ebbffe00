// A new job type in six steps, as a workload of its own beside the seven types. The test of the examples runs it in its lane.
import type { Workload } from '@millrace/cli/workload'
import { defineJob, implement } from 'millrace'
import { z } from 'zod'
import { queue } from '#src/contracts'
import { lipasHandlers } from '#src/handlers'
import { lipas } from '#src/lipas'
import type { LipasSystem } from '#src/system'

// 1. The payload schema, in the contract: what a job carries, and an example of it.
// 2. The duration: a job of less than 30 seconds is fast, and may use the slots that are kept for fast ones.
export const countSites = defineJob({
  type: 'count-sites',
  queue,
  retention: 'long',
  speed: 'fast',
  payload: z.strictObject({ status: z.string().default('active') }),
  result: z.strictObject({ sites: z.int() }),
  dedupe: { key: ({ status }) => `count-${status}` },
  examples: [{}, { status: 'planned' }],
})

// 3. The handler. It throws to be tried again, returns to be done, and may run twice.
export const countSitesHandler = ({ database }: LipasSystem) =>
  implement(countSites, async ({ status }, ctx) => {
    const { rows } = await database.query('select count(*)::int as sites from lipas.sports_site where status = $1', [
      status,
    ])
    const { sites } = rows[0] as { sites: number }
    ctx.log.info({ sites }, 'counted')
    return { sites }
  })

// 4. Tests: see test/examples.test.ts. 5. This text is its documentation. 6. `millrace work` runs it, /metrics shows it.
const workload = lipas({ handlers: (system) => [...lipasHandlers(system), countSitesHandler(system)] })
export default { ...workload, jobs: [...workload.jobs, countSites] } satisfies Workload
