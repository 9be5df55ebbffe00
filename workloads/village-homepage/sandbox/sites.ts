// Sites to take pictures of. One of them tries to reach what only this machine may reach: its picture says how far it came.
import { type Answer, type Call, escaped, type Service, text } from '@millrace/sandbox'
import { trapAnswer } from './trap.ts'

export interface SandboxSite {
  readonly path: string
  readonly title: string
  readonly category: string
}

/** The trap is the last one. */
export const SITES: readonly SandboxSite[] = [
  { path: 'library', title: 'The village library', category: 'Culture' },
  { path: 'bakery', title: 'Bakery at the bridge', category: 'Food' },
  { path: 'harbour', title: 'Harbour and tides', category: 'Outdoors' },
  { path: 'trap', title: 'A curious corner', category: 'Odd' },
]

interface Look {
  readonly ink: string
  readonly paper: string
  readonly accent: string
  readonly lead: string
  readonly entries: readonly string[]
}

const LOOKS: Readonly<Record<string, Look>> = {
  library: {
    ...{
      ink: '#1d2b3a',
      paper: '#f4efe6',
      accent: '#8a3b2a',
      lead: 'Open from Tuesday to Saturday, and on the bench outside.',
    },
    entries: [
      'New on the shelf: Tide tables of a small sea',
      'Reading hour for children',
      'Return by post',
      'Maps of 1890',
    ],
  },
  bakery: {
    ...{
      ink: '#3a2617',
      paper: '#fff6e5',
      accent: '#c96f1a',
      lead: 'Rye at six, rolls at seven, and nothing left at ten.',
    },
    entries: ['Sourdough, two days old on purpose', 'Plum cake on Fridays', 'Order by noon', 'Bring your own bag'],
  },
  harbour: {
    ...{
      ink: '#0c2b33',
      paper: '#e6f2f4',
      accent: '#0b7285',
      lead: 'High water at 09:12 and 21:40. Wind from the west, four.',
    },
    entries: ['The ferry goes every hour', 'Moorings for guests', 'Lost: one green oar', 'Seals were seen at the pier'],
  },
}

export class Sites implements Service {
  async answer(call: Call): Promise<Answer> {
    const [, name = '', ...rest] = call.path.split('/')
    if (name === 'never') return new Promise<Answer>(() => {})
    if (name === 'trap') return trapAnswer(rest.join('/'), call)
    if (name === 'down') return text(503, 'Come back later.')
    const look = LOOKS[name]
    const site = SITES.find(({ path }) => path === name)
    if (look === undefined || site === undefined) return text(404, 'There is no such site.')
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: pageOf(site, look) }
  }

  limited(): Answer {
    return text(429, 'too many requests', { 'retry-after': '60' })
  }
}

const pageOf = ({ title }: SandboxSite, { ink, paper, accent, lead, entries }: Look): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>
body { margin: 0; font: 20px/1.5 "Open Sans", sans-serif; color: ${ink}; background: ${paper}; }
header { background: ${accent}; color: #fff; padding: 64px 8vw 48px; }
h1 { margin: 0; font-size: clamp(36px, 6vw, 72px); line-height: 1.05; }
ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 24px; padding: 40px 8vw; margin: 0; list-style: none; }
li { background: #fff; border-top: 6px solid ${accent}; padding: 24px; min-height: 96px; }
svg { display: block; width: 100%; height: 120px; }
</style></head><body><header><h1>${escaped(title)}</h1><p>${escaped(lead)}</p></header>
<svg viewBox="0 0 1200 120" preserveAspectRatio="none"><path fill="${accent}" opacity=".25" d="M0 40 Q150 0 300 40 T600 40 T900 40 T1200 40 V0 H0Z"/></svg>
<ul>${entries.map((entry) => `<li>${escaped(entry)}</li>`).join('')}</ul></body></html>`
