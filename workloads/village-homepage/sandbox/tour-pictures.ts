// Pictures of the tour: sites that have none are shown, and sellers add pictures to their listings.
import sharp from 'sharp'
import { addPicture } from '../src/media/upload-form.ts'
import type { TourStop } from '../src/village.ts'
import { NEIGHBOURS } from './neighbour.ts'

/** Those without a picture, and one besides, so that each start shows something. */
const SITES = `
select site.id, site.url, media.id is null as "isBare"
from village.good_sites as site
left join lateral (
  select id from village.media where owner_kind = 'site' and owner_id = site.id and parent_id is not null limit 1
) as media on true
where site.is_sandbox
  and site.status = 'listed'
order by media.id is null desc, site.title desc`

const LISTINGS = `
select listing.id, listing.title
from village.listings as listing
join village.contacts as seller on seller.id = listing.seller_id
where listing.status = 'active'
  and split_part(seller.email, '@', 2) = $1
order by exists (select from village.media where owner_kind = 'listing' and owner_id = listing.id), listing.created_at`

interface Options {
  readonly createdBy: string
}

export async function showSites({ millrace, parts }: TourStop, options: Options): Promise<void> {
  const { rows } = await parts.database.query(SITES)
  const sites = rows as { id: string; url: string; isBare: boolean }[]
  for (const { id, url, isBare } of sites)
    if (isBare || id === sites[0]?.id) await millrace.workflows.start(parts.goodSite, { site_id: id, url }, options)
}

export async function addPictures({ millrace, parts }: TourStop, { createdBy }: Options): Promise<void> {
  const { rows } = await parts.database.query(LISTINGS, [NEIGHBOURS])
  for (const { id, title } of rows as { id: string; title: string }[]) {
    const bytes = await pictureOf(title)
    await parts.database.transaction((tx) => addPicture(parts, { tx, millrace, listing: id, bytes, createdBy }))
  }
}

/** A still life of circles and a table, other ones for each title, as a camera writes it: with the place where it was taken. */
async function pictureOf(title: string): Promise<Buffer> {
  const seed = [...title].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973, 7)
  const circles = Array.from({ length: 9 }, (_, i) => {
    const at = (salt: number, most: number) => (seed * (i + 3) * salt) % most
    return `<circle cx="${at(7, 700) + 50}" cy="${at(11, 300) + 120}" r="${at(13, 70) + 30}" fill="hsl(${at(17, 360)} 60% 55%)" opacity=".85"/>`
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600">
<rect width="800" height="600" fill="hsl(${seed % 360} 40% 88%)"/>${circles.join('')}
<rect y="420" width="800" height="180" fill="hsl(${(seed + 40) % 360} 30% 42%)"/></svg>`
  return sharp(Buffer.from(svg))
    .withExif({ IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '44/1 15/1 36/1' } })
    .jpeg()
    .toBuffer()
}
