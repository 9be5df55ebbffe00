// Good sites whose pictures are taken by a real worker: the handler has a process of its own there, and a browser.
import { randomUUID } from 'node:crypto'
import type { WorkOptions } from 'millrace'
import { setup, type Village, type VillageSetup } from './setup.ts'

export async function addSite(t: Village, url: string, { title = 'A site', status = 'pending' } = {}): Promise<string> {
  const [row] = await t.sql<{ id: string }>(
    `insert into village.good_sites (url, title, status) values ($1, $2, $3)
    on conflict (url) do update set title = excluded.title returning id`,
    [url, title, status],
  )
  return row?.id as string
}

/** A village that only takes pictures. */
export async function captureSetup(options: VillageSetup = {}) {
  const env = { VILLAGECOMPUTE_JOBS_MAX_ATTEMPTS: '1', ...options.env }
  const t = await setup({ ...options, env })
  const handlers = t.village.handlers.filter(({ contract }) => contract.type === 'SCREENSHOT_CAPTURE')
  return {
    ...t,
    works: (more: Partial<WorkOptions> = {}) => t.millrace.work({ handlers, ...more }),
    async begin(url: string, site?: string): Promise<string> {
      const siteId = site ?? (await addSite(t, `${url}#${randomUUID()}`))
      return (await t.millrace.enqueue(t.parts.contracts.SCREENSHOT_CAPTURE, { site_id: siteId, url })).id
    },
    ended: (id: string) => t.millrace.result(id, { timeout: '110s' }),
  }
}
