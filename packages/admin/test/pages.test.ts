// Pages that a program adds: their path and everything below it, public or for a role.
import { admin, type Page } from '@millrace/admin'
import { expect, test } from 'vitest'
import { setup } from './support/setup.ts'

const say =
  (text: string): Page['handle'] =>
  (request, { caller }) =>
    new Response(`${text} ${request.method} ${new URL(request.url).pathname} ${caller?.name ?? 'anybody'}`)

const pages: Page[] = [
  { path: '/village', title: 'Village <1>', handle: say('public') },
  { path: '/village/feeds', title: 'Feeds', permission: 'operator', handle: say('feeds') },
]

test('answer their path and all below it, whatever the method, and know the caller', async () => {
  await using t = await setup([], { admin: { pages } })
  expect((await t.call('GET /village')).body).toBe('public GET /village anybody')
  expect((await t.call('POST /village/media/1')).body).toBe('public POST /village/media/1 anybody')
  expect((await t.call('GET /villages')).status).toBe(404)
  const token = await t.token('operator')
  expect((await t.call('GET /village', { token })).body).toMatch(/^public GET \/village operator/)
})

test('are named to those who may see them', async () => {
  await using t = await setup([], { admin: { pages, environment: 'staging' } })
  const seenBy = async (role: 'viewer' | 'operator') =>
    (await t.call('GET /admin/api/me', { token: await t.token(role) })).body
  expect(await seenBy('viewer')).toMatchObject({
    environment: 'staging',
    pages: [{ path: '/village', title: 'Village <1>' }],
  })
  expect((await seenBy('operator')).pages).toHaveLength(2)
})

test('that name a permission demand it; the longer path wins', async () => {
  await using t = await setup([], { admin: { pages } })
  expect((await t.call('GET /village/feeds')).status).toBe(401)
  expect((await t.call('GET /village/feeds', { token: await t.token('viewer') })).status).toBe(403)
  expect((await t.call('GET /village/feeds/7', { token: await t.token('operator') })).body).toMatch(/^feeds GET/)
})

test('take changes of a browser only from their own origin, and those of programs', async () => {
  await using t = await setup([], { admin: { pages } })
  const post = (headers: Record<string, string>) =>
    t.call('POST /village/form', { headers: { host: 'here', ...headers } })
  expect((await post({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).status).toBe(403)
  expect((await post({ origin: 'https://evil.example' })).status).toBe(403)
  expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  expect((await post({})).status).toBe(200)
})

test('may say their own security policy; all else is ours', async () => {
  const handle = () => new Response('x', { headers: { 'content-security-policy': "default-src 'self'" } })
  await using t = await setup([], { admin: { pages: [{ path: '/p', title: 'P', handle }] } })
  const { headers } = await t.call('GET /p')
  expect(headers.get('content-security-policy')).toBe("default-src 'self'")
  expect(headers.get('x-frame-options')).toBe('DENY')
})

test('with a path of ours, without one, or twice are refused at the start', async () => {
  await using t = await setup([])
  const refused = (...paths: string[]) =>
    expect(() => admin(t.millrace, { pages: paths.map((path) => ({ path, title: 'P', handle: say('') })) }))
  refused('/admin/x').toThrow(/belongs to Millrace/)
  refused('village').toThrow(/expected one such as '\/village'/)
  refused('/a', '/a').toThrow(/Two pages have the path \/a/)
})
