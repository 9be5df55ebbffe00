import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createMetrics, type DefinedMetric } from '@millrace/telemetry'
import type { Implementation, JobContract, Millrace, Worker } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { readPage } from '../../packages/telemetry/test/support/open-metrics.ts'
import { openDocument, root } from '../support/document.ts'

const path = 'docs/guides/telemetry.md'

interface Program {
  serveMetrics(millrace: Millrace, worker: Worker, port: number): { server: Server; stop(): Promise<void> }
}
interface Feeds {
  refresh: JobContract
  default: { handlers: readonly Implementation[]; metrics: readonly DefinedMetric[] }
}

test('the program of the guide serves the page', async () => {
  await using t = await setup()
  await using guide = await openDocument(path)
  const { serveMetrics } = await guide.load<Program>('metrics.ts')
  const { default: workload } = await guide.load<Feeds>('feeds.ts')
  const { millrace, worker } = await t.working(workload.handlers)
  const { server, stop } = serveMetrics(millrace, worker, 0)
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`)
    expect(response.headers.get('content-type')).toContain('version=0.0.4')
    expect(readPage(await response.text(), { isOpenMetrics: false }).has('millrace_build_info')).toBe(true)
  } finally {
    server.closeAllConnections()
    server.close()
    await stop()
  }
})

test('the metrics of the guide’s workload are exported', async () => {
  await using t = await setup()
  await using guide = await openDocument(path)
  const { refresh, default: workload } = await guide.load<Feeds>('feeds.ts')
  const { millrace } = await t.working(workload.handlers)
  const metrics = createMetrics(millrace, { metrics: workload.metrics })
  try {
    await millrace.result((await millrace.enqueue(refresh, { source: 'xyz' } as never)).id)
    const families = readPage((await metrics.page()).body, { isOpenMetrics: false })
    expect(families.get('rss_fetch_items_total')?.samples).toMatchObject([
      { labels: { source_id: 'xyz', status: 'new' }, value: 3 },
    ])
    expect(families.get('rss_fetch_duration')?.samples.at(-1)?.value).toBe(1)
    expect(families.get('feeds_uptime_seconds')?.samples[0]?.value).toBeGreaterThan(0)
  } finally {
    await metrics.stop()
  }
})

test('the guide names every metric of the page, with its type, and no other', async () => {
  await using t = await setup()
  const millrace = t.client([])
  const metrics = createMetrics(millrace)
  try {
    const exported = [...readPage((await metrics.page()).body, { isOpenMetrics: false }).keys()].sort()
    const text = readFileSync(join(root, path), 'utf8').split('## Traces')[0] ?? ''
    const rows = text.split('\n').filter((line) => line.startsWith('| `'))
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]))
    expect(named.sort()).toEqual(exported)
  } finally {
    await metrics.stop()
  }
})
