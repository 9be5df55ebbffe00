import { enqueued } from 'millrace/testing'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'

const PAGE = '/village/feeds'
const OWN = { origin: 'http://jobs.example.com', 'sec-fetch-site': 'same-origin' }
const ADD =
  'insert into village.rss_sources (name, url, is_active, error_count, last_error_type, last_error_message, disabled_at) values'

async function started() {
  const t = await adminSetup()
  const token = await t.token('operator')
  const [row] = await t.sql<{ id: string }>(`${ADD} ('Gazette', 'https://g.example/', true, 2, 'http_503', 'down', null)
    returning id`)
  const [off] = await t.sql<{ id: string }>(`${ADD} ('<b>Mill</b>', 'https://m.example/', false, 5, 'http_404',
    '<script>alert(1)</script>', now()) returning id`)
  return Object.assign(t, { operator: token, failing: row?.id as string, disabled: off?.id as string })
}

test('operators see every feed with its state and its last error, as text', async () => {
  await using t = await started()
  const response = await t.send(`GET ${PAGE}`, { token: t.operator })
  const page = await response.text()
  expect(response.status).toBe(200)
  expect(page).toContain('2 feeds, 1 failing, 1 disabled')
  expect(page).toContain('Failing: 2 of 5 errors in a row')
  expect(page).toContain('Disabled after 5 errors in a row')
  expect(page).toContain('http_404: &lt;script&gt;alert(1)')
  expect(page).not.toContain('<script')
  expect(page).not.toContain('<b>')
  expect((await t.send(`GET ${PAGE}`, { token: await t.token('viewer') })).status).toBe(403)
  expect((await t.send(`GET ${PAGE}`)).status).toBe(401)
})

test('"Refresh now" enqueues a forced refresh of that feed, once', async () => {
  await using t = await started()
  const press = () => t.send(`POST ${PAGE}/${t.failing}/refresh`, { token: t.operator, headers: OWN })
  const first = await press()
  expect(first.status).toBe(303)
  const page = await (await t.send(`GET ${first.headers.get('location')}`, { token: t.operator })).text()
  expect(page).toMatch(/Gazette is being refreshed\. <a href="\/admin\/jobs\/\d+">/)
  expect((await press()).headers.get('location')).toContain('told=waits')
  const jobs = await enqueued(t.millrace, t.parts.contracts.RSS_FEED_REFRESH)
  expect(jobs.map(({ payload }) => payload)).toEqual([{ source_id: t.failing, force_refresh: true }])
})

test('"Enable" lets a disabled feed start anew, and the audit log says by whom', async () => {
  await using t = await started()
  const pressed = await t.send(`POST ${PAGE}/${t.disabled}/enable`, { token: t.operator, headers: OWN })
  expect(pressed.status).toBe(303)
  const [row] = await t.sql(
    'select is_active, error_count, last_error_message, disabled_at from village.rss_sources where id = $1',
    [t.disabled],
  )
  expect(row).toEqual({ is_active: true, error_count: 0, last_error_message: null, disabled_at: null })
  const [entry] = await t.millrace.audit.list({ limit: 1 })
  expect(entry).toMatchObject({ by: 'operator 1', action: 'rss_source.change', target: t.disabled })
})

test('a button of an unknown feed does nothing', async () => {
  await using t = await started()
  for (const rest of ['/17/refresh', '/5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11/refresh', `/${t.failing}/delete`])
    expect((await t.send(`POST ${PAGE}${rest}`, { token: t.operator, headers: OWN })).status).toBe(404)
  expect((await t.send(`DELETE ${PAGE}`, { token: t.operator, headers: OWN })).status).toBe(405)
  expect(await enqueued(t.millrace, t.parts.contracts.RSS_FEED_REFRESH)).toEqual([])
})

test('a village without feeds says how to follow one', async () => {
  await using t = await adminSetup()
  const page = await (await t.send(`GET ${PAGE}`, { token: await t.token('operator') })).text()
  expect(page).toContain('The village follows no feeds yet.')
  expect(page).toContain('/admin/api/rss-sources')
})
