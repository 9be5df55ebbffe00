import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'

const PATH = '/admin/api/rss-sources'
const FEED = { name: 'Gazette', url: 'https://example.com/feed.xml', category: 'Breaking News' }

test('a feed is added with the interval of its category, listed and shown', async () => {
  await using t = await adminSetup()
  const [operator, viewer] = [await t.token('operator'), await t.token('viewer')]
  const added = await t.call(`POST ${PATH}`, { token: operator, body: FEED })
  expect(added).toMatchObject({
    status: 201,
    body: { ...FEED, refresh_interval_minutes: 15, is_active: true, error_count: 0, last_error_message: null },
  })
  const shown = await t.call(`GET ${PATH}/${added.body.id}`, { token: viewer })
  expect(shown).toMatchObject({ status: 200, body: added.body })
  const list = await t.call(`GET ${PATH}`, { token: viewer })
  expect(list.body).toEqual({ sources: [added.body] })
  const plain = await t.call(`POST ${PATH}`, { token: operator, body: { name: 'B', url: 'http://b.example/' } })
  expect(plain.body).toMatchObject({ category: 'General', refresh_interval_minutes: 60, entry_limit: 1000 })
})

test('an address is followed once, also after a change', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  await t.call(`POST ${PATH}`, { token, body: FEED })
  const again = await t.call(`POST ${PATH}`, { token, body: { ...FEED, name: 'Other' } })
  expect(again).toMatchObject({ status: 409, body: { code: 'url_taken', detail: expect.stringContaining(FEED.url) } })
  const other = await t.call(`POST ${PATH}`, { token, body: { ...FEED, url: 'https://example.com/other' } })
  const changed = await t.call(`PATCH ${PATH}/${other.body.id}`, { token, body: { url: FEED.url } })
  expect(changed).toMatchObject({ status: 409, body: { code: 'url_taken' } })
})

test('a disabled feed is enabled again, and the audit log says by whom', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  const { body } = await t.call(`POST ${PATH}`, { token, body: FEED })
  await t.sql(`update rss_sources set is_active = false, error_count = 5, last_error_type = 'http_404',
    last_error_message = 'gone', disabled_at = now()`)
  const change = { is_active: true, error_count: 0 }
  const changed = await t.call(`PATCH ${PATH}/${body.id}`, { token, body: change })
  expect(changed).toMatchObject({
    status: 200,
    body: {
      id: body.id,
      is_active: true,
      error_count: 0,
      last_error_type: null,
      last_error_message: null,
      disabled_at: null,
    },
  })
  const [entry] = await t.millrace.audit.list({ limit: 1 })
  expect(entry).toMatchObject({ by: 'operator 1', action: 'rss_source.change', target: body.id, details: change })
})

test('what is not named stays, and another address forgets what was known of the feed', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  const { body } = await t.call(`POST ${PATH}`, { token, body: { ...FEED, user_agent: 'Mozilla/5.0' } })
  await t.sql(`update village.rss_sources set etag = '"1"', last_modified = 'x', moved_to = 'https://new.example/'`)
  const renamed = await t.call(`PATCH ${PATH}/${body.id}`, {
    token,
    body: { name: 'Wire', dedupe_mode: 'content_hash' },
  })
  expect(renamed.body).toMatchObject({
    name: 'Wire',
    url: FEED.url,
    user_agent: 'Mozilla/5.0',
    moved_to: 'https://new.example/',
  })
  const body2 = { url: 'https://new.example/', user_agent: null }
  const moved = await t.call(`PATCH ${PATH}/${body.id}`, { token, body: body2 })
  expect(moved.body).toMatchObject({ ...body2, moved_to: null, dedupe_mode: 'content_hash' })
  expect(await t.sql('select etag, last_modified from village.rss_sources')).toEqual([
    { etag: null, last_modified: null },
  ])
})

test('intervals outside 15 to 1440 minutes are refused, by the API with the range and by the table', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  const { body } = await t.call(`POST ${PATH}`, { token, body: FEED })
  for (const minutes of [10, 2000, 15.5]) {
    const refused = await t.call(`PATCH ${PATH}/${body.id}`, { token, body: { refresh_interval_minutes: minutes } })
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('from 15 to 1440') } })
  }
  for (const minutes of [10, 2000]) {
    const update = t.sql('update rss_sources set refresh_interval_minutes = $1', [minutes])
    await expect(update).rejects.toThrow('rss_sources_interval_check')
  }
  const wrong = { url: 'ftp://example.com/', entry_limit: 0, colour: 'blue' }
  const refused = await t.call(`PATCH ${PATH}/${body.id}`, { token, body: wrong })
  for (const part of ['http or https', '1 to 10000', 'colour']) expect(refused.body.detail).toContain(part)
})

test('a feed that is not there is not found, and an id must be a uuid', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  const id = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'
  expect(await t.call(`GET ${PATH}/${id}`, { token })).toMatchObject({ status: 404 })
  expect(await t.call(`PATCH ${PATH}/${id}`, { token, body: { name: 'x' } })).toMatchObject({ status: 404 })
  expect(await t.call(`GET ${PATH}/17`, { token })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('uuid') },
  })
})

test('a viewer may look, and not change', async () => {
  await using t = await adminSetup()
  const [operator, viewer] = [await t.token('operator'), await t.token('viewer')]
  const { body } = await t.call(`POST ${PATH}`, { token: operator, body: FEED })
  for (const line of [`POST ${PATH}`, `PATCH ${PATH}/${body.id}`, `POST ${PATH}/import`]) {
    expect(await t.call(line, { token: viewer, body: {} })).toMatchObject({ status: 403 })
    expect(await t.call(line, { body: {} })).toMatchObject({ status: 401 })
  }
})

test('an OPML file is imported: folders become categories, known feeds stay, junk is named', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  await t.call(`POST ${PATH}`, { token, body: FEED })
  const opml = `<?xml version="1.0"?><opml version="2.0"><head><title>Mine</title></head><body>
    <outline text="Breaking News"><outline type="rss" text="Gazette" xmlUrl="${FEED.url}"/>
      <outline type="rss" title="Wire" text="W" xmlUrl="https://wire.example/feed?a=1&amp;b=2"/></outline>
    <outline type="rss" text="" xmlUrl="https://loose.example/rss"/>
    <outline type="rss" text="Bad" xmlUrl="javascript:alert(1)"/></body></opml>`
  const imported = await t.call(`POST ${PATH}/import`, { token, body: { opml } })
  expect(imported).toMatchObject({
    status: 200,
    body: { found: 3, added: 2, known: 1, unusable: ['javascript:alert(1)'] },
  })
  expect(
    await t.sql('select name, url, category, refresh_interval_minutes as minutes from rss_sources order by url'),
  ).toEqual([
    { name: 'Gazette', url: FEED.url, category: 'Breaking News', minutes: 15 },
    { name: 'loose.example', url: 'https://loose.example/rss', category: 'General', minutes: 60 },
    { name: 'Wire', url: 'https://wire.example/feed?a=1&b=2', category: 'Breaking News', minutes: 15 },
  ])
  for (const bad of ['<rss/>', 'hello', '<!DOCTYPE o [<!ENTITY a "b">]><opml/>'])
    expect(await t.call(`POST ${PATH}/import`, { token, body: { opml: bad } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_opml' },
    })
})
