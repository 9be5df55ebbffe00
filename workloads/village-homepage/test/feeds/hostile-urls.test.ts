import { expect, test } from 'vitest'
import { hostileUrls, startCanary } from '../support/canary.ts'
import { items, rss } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

test('no address inside is asked, neither as a source nor by a redirect, and each is a typed failure', async () => {
  await using canary = await startCanary(rss(items(1)))
  await using t = await feedSetup()
  for (const [i, url] of hostileUrls(canary.port).entries()) {
    const direct = await t.follow(url)
    expect(await t.refresh(direct), url).toMatchObject({ outcome: 'retry' })
    expect(await t.source(direct), url).toMatchObject({ last_error_type: 'AddressRefused', error_count: 1 })
    if (!URL.canParse(url)) continue
    t.server.set(`/${i}`, { status: i % 2 === 0 ? 302 : 301, headers: { location: url } })
    const led = await t.follow(`/${i}`)
    expect(await t.refresh(led), url).toMatchObject({ outcome: 'retry' })
    expect(await t.source(led), url).toMatchObject({ last_error_type: 'AddressRefused', moved_to: null })
  }
  expect(canary.touched()).toBe(0)
})

test('addresses inside a feed are stored as links at most, and never asked', async () => {
  await using canary = await startCanary(rss(items(1)))
  await using t = await feedSetup()
  const inside = `http://127.0.0.1:${canary.port}`
  const feed = `<?xml version="1.0"?><?xml-stylesheet href="${inside}/style.xsl"?>
<!DOCTYPE rss SYSTEM "${inside}/rss.dtd"><rss version="2.0"><channel><title>x</title><link>${inside}/</link>
<image><url>${inside}/logo.png</url></image><cloud domain="127.0.0.1" port="${canary.port}" path="/" protocol="http-post"/>
<item><title>T</title><link>${inside}/story</link><enclosure url="${inside}/a.mp3" length="1" type="audio/mpeg"/>
<description>&lt;img src="${inside}/pixel.gif"&gt;&lt;iframe src="${inside}/"&gt;&lt;/iframe&gt;Text</description></item></channel></rss>`
  t.server.set('/feed', { body: feed })
  const id = await t.follow('/feed')
  expect(await t.refresh(id)).toMatchObject({ result: { new: 1 } })
  expect(await t.items(id)).toMatchObject([{ url: `${inside}/story`, description: 'Text' }])
  expect(canary.touched()).toBe(0)
})
