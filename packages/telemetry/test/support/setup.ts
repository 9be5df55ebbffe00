import { createMetrics, type Metrics, type MetricsOptions } from '@millrace/telemetry'
import { createMillrace, type Implementation, type Millrace, type MillraceOptions, type Worker } from 'millrace'
import pg from 'pg'
import { freshDatabase } from '../../../engine/test/support/database.ts'
import { type ReadFamily, readPage } from './open-metrics.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A database of this test's own, with clients whose metrics are exported. */
export async function setup() {
  const database = await freshDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  const closers: (() => Promise<void>)[] = []
  return {
    pool,

    /** As a process of its own would: a client, its metrics, and a worker if there are handlers. */
    async process(
      handlers: readonly Implementation[],
      {
        metrics: options = {},
        works = true,
        ...rest
      }: Partial<MillraceOptions> & { metrics?: MetricsOptions; works?: boolean } = {},
    ): Promise<{ millrace: Millrace; metrics: Metrics; worker: Worker | undefined }> {
      const jobs = handlers.map(({ contract }) => contract)
      const millrace = createMillrace({ database: database.url, jobs, logger: silent, ...rest })
      const metrics = createMetrics(millrace, options)
      closers.push(async () => {
        await metrics.stop()
        await millrace.close()
      })
      const lease = { heartbeat: '150ms', ttl: '5s', sweep: '100ms' } as const
      const worker = works ? await millrace.work({ handlers, lease, gracePeriod: '5s' }) : undefined
      if (worker !== undefined) metrics.watch(worker)
      return { millrace, metrics, worker }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(closers.map((close) => close()))
      await pool.end()
      await database.drop()
    },
  }
}

export const OPENMETRICS = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'

/** Reads the page in both formats, which must tell the same. */
export async function scrape(metrics: Metrics): Promise<Scraped> {
  const plain = await metrics.page('text/plain')
  const open = await metrics.page(OPENMETRICS)
  const families = readPage(plain.body, { isOpenMetrics: false })
  return { plain: plain.body, open: open.body, families, openFamilies: readPage(open.body, { isOpenMetrics: true }) }
}

export interface Scraped {
  plain: string
  open: string
  families: Map<string, ReadFamily>
  openFamilies: Map<string, ReadFamily>
}

/** The samples of that name whose labels are among these, as label values and number. */
export function valuesOf({ families }: Scraped, name: string, where: Record<string, string> = {}): [string, number][] {
  const [family] = [...families.values()].filter(({ samples }) => samples.some((sample) => sample.name === name))
  return (family?.samples ?? [])
    .filter((sample) => sample.name === name)
    .filter(({ labels }) => Object.entries(where).every(([key, value]) => labels[key] === value))
    .map(({ labels, value }) => [Object.values(labels).join(' '), value])
}
