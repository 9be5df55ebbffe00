// The dashboard as the server hands it out: one page for every screen, assets for ever, a strict policy, any base path.
import { createHash } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { setup } from './support/setup.ts'

const html = { accept: 'text/html,*/*;q=0.8' }

test('every URL of a screen is the same page, without a login', async () => {
  await using t = await setup([])
  const home = await t.call('GET /admin/', { headers: html })
  expect(home.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const deep = await t.call('GET /admin/jobs/17?tab=logs', { headers: html })
  expect([deep.status, deep.body]).toEqual([200, home.body])
  expect(home.headers.get('cache-control')).toBe('no-cache')
})

test('paths of the API and of assets that do not exist stay problems', async () => {
  await using t = await setup([])
  for (const path of ['/admin/api/nothing', '/admin/assets/nothing.js', '/admin/assets/..%2f..%2fpackage.json'])
    expect(await t.call(`GET ${path}`, { headers: html }), path).toMatchObject({
      status: 404,
      body: { code: 'no_such_path' },
    })
  expect((await t.call('GET /admin/nothing', { headers: { accept: 'application/json' } })).status).toBe(404)
})

test('the page allows its own script by hash and no other, and its links know the base path', async () => {
  await using t = await setup([], { admin: { basePath: '/ops' } })
  const { body, headers } = await t.call('GET /ops/admin/', { headers: html })
  const page = String(body)
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
  const hash = createHash('sha256').update(script).digest('base64')
  expect(headers.get('content-security-policy')).toContain(`script-src 'self' 'sha256-${hash}';`)
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
  expect(page).toContain('data-base="/ops"')
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string)
  expect(links.length).toBeGreaterThan(2)
  for (const link of links) {
    expect(link).toMatch(/^\/ops\/admin\/assets\//)
    const asset = await t.call(`GET ${link}`)
    expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
  }
})

test('assets are sent compressed to those who accept it', async () => {
  await using t = await setup([])
  const { body } = await t.call('GET /admin/', { headers: html })
  const [, path = ''] = /src="(\/admin\/assets\/[^"]+\.js)"/.exec(String(body)) ?? []
  const get = (accepts: string) =>
    t.handler(new Request(`http://here${path}`, { headers: { 'accept-encoding': accepts } }))
  const [plain, brotli, refused] = [await get('identity'), await get('gzip, br'), await get('br;q=0')]
  expect(brotli.headers.get('content-encoding')).toBe('br')
  expect(refused.headers.get('content-encoding')).toBeNull()
  expect(brotliDecompressSync(new Uint8Array(await brotli.arrayBuffer())).toString()).toBe(await plain.text())
})
