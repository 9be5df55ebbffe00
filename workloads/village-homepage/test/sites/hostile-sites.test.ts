import { expect, test } from 'vitest'
import { hostileUrls, startCanary } from '../support/canary.ts'
import { captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

/** On a busy machine six browsers take their time. */
const PATIENCE = { timeout: 120_000 }

/** Everything that a page can do to reach an address. */
const trap = (urls: readonly string[]): string => `<!doctype html><title>Trap</title><h1>Trap</h1><script>
for (const url of ${JSON.stringify(urls)}) {
  for (const [tag, name] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['link', 'href'], ['object', 'data'], ['video', 'src']]) {
    const element = document.createElement(tag)
    if (tag === 'link') element.rel = 'stylesheet'
    element[name] = url
    document.body.append(element)
  }
  try { fetch(url, { mode: 'no-cors' }).catch(() => {}) } catch {}
  try { new WebSocket(url.replace(/^http/, 'ws')) } catch {}
  try { new EventSource(url) } catch {}
  try { navigator.sendBeacon(url, 'x') } catch {}
  try { open(url) } catch {}
}
</script>`

test(
  'no hostile address is touched: not as a site, by no redirect, and by nothing that a page does',
  PATIENCE,
  async () => {
    await using canary = await startCanary('<title>inside</title>')
    await using server = await startFeedServer()
    await using t = await captureSetup({ allow: [server.address] })
    const hostile = hostileUrls(canary.port)
    const redirects = hostile.map((url, i) => {
      server.set(`/${i}`, { status: 302, headers: { location: url } })
      return server.url(`/${i}`)
    })
    server.set('/trap', { headers: { 'content-type': 'text/html' }, body: trap([...hostile, ...redirects]) })
    const direct = [`http://127.0.0.1:${canary.port}/`, `https://127.0.0.1:${canary.port}/`, redirects[1] ?? '']
    const refused = await Promise.all(direct.map((url) => t.begin(url)))
    const led = await t.begin(redirects[15] ?? '')
    const trapped = await t.begin(server.url('/trap'))
    const sandboxTrap = await t.begin(`${t.sandbox.urlOf('sites')}/trap?port=${canary.port}`)
    await t.works()
    for (const [i, job] of refused.entries())
      expect(await t.ended(job), direct[i]).toEqual({
        status: 'dead',
        reason: 'unrecoverable',
        error: `No screenshot of ${direct[i]}: its address, or one that it leads to, is not public.`,
      })
    // To a file.
    expect(await t.ended(led)).toMatchObject({ status: 'dead', error: expect.stringContaining('ERR_UNSAFE_REDIRECT') })
    expect(await t.ended(trapped)).toMatchObject({ status: 'completed', result: { title: 'Trap' } })
    expect(await t.ended(sandboxTrap)).toMatchObject({ status: 'completed', result: { title: 'A curious corner' } })
    // It did try.
    expect(new Set(server.asked.map(({ path }) => path)).size).toBeGreaterThan(hostile.length)
    expect(canary.touched()).toBe(0)
  },
)
