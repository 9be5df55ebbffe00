// What the feeds of the sandbox write about: sentences with gaps, filled differently for each story.
import type { Story } from './feed-format.ts'

export interface Beat {
  readonly titles: readonly string[]
  readonly sentences: readonly string[]
  readonly gaps: Readonly<Record<string, readonly string[]>>
}

const PLACES = [
  'the old mill',
  'Harbour Street',
  'the market square',
  'Elm Bridge',
  'the station',
  'Quarry Lane',
  'the green',
]
const NUMBERS = ['three', 'a dozen', 'forty', 'two hundred', '1,200', 'nine']
const DAYS = ['on Monday', 'this weekend', 'before the summer', 'next month', 'on Friday night', 'after ten years']

const gaps = (own: Readonly<Record<string, readonly string[]>>): Beat['gaps'] => ({
  ...{ place: PLACES, number: NUMBERS, day: DAYS },
  ...own,
})

export const BEATS = {
  local: {
    titles: [
      'Council votes on {plan} near {place}',
      '{place} closes {day} for repairs',
      'Neighbours saved {thing} from the flood',
      'Mayor opens {thing} {day}',
      'Petition asks for {plan}, {number} names so far',
    ],
    sentences: [
      'The council heard {number} speakers before the vote about {plan}.',
      'Neighbours near {place} welcome the work, though some shops fear a slow season.',
      'The river was higher than in any survey since records began.',
      'A final decision is due {day}.',
    ],
    gaps: gaps({
      plan: ['a cycle path', 'lower rent for workshops', 'a second ferry', 'street trees', 'a later bus'],
      thing: ['the library', 'the village bakery', 'a footbridge', 'the swimming pool', 'the bell tower'],
    }),
  },
  tech: {
    titles: [
      'A compiler that fits into {number} kilobytes',
      'Fibre network reaches {place} {day}',
      'Robot {job} learns from its mistakes',
      'Why our software got {change} when we deleted code',
      'Battery of the {thing} lasts a whole season',
    ],
    sentences: [
      'The team measured every change and kept {number} of them.',
      'The app runs on a computer that others had thrown away.',
      'An open library does the hard part; the code is {change} than before.',
      'A study of {number} users starts {day}.',
    ],
    gaps: gaps({
      job: ['gardener', 'librarian', 'ferryman', 'baker'],
      change: ['faster', 'smaller', 'better', 'easier to read'],
      thing: ['river sensor', 'school tablet', 'weather station', 'harbour light'],
    }),
  },
  opinion: {
    titles: [
      'What {number} years of {topic} taught this company',
      'The price of {topic}, and who pays it',
      'Against the cult of {topic}',
      'Researchers look at {topic} and find less than they hoped',
      'A market for {topic} would be worse than none',
    ],
    sentences: [
      'Wages grew, trade did not, and the budget for {topic} was cut twice.',
      'The experiment ran in {number} villages and ended {day}.',
      'Profit is one measure; the number of neighbours who stay is another.',
      'A better question is what {place} looks like without it.',
    ],
    gaps: gaps({
      topic: ['free ferries', 'small shops', 'night work', 'school lunches', 'slow roads', 'shared gardens'],
    }),
  },
  leisure: {
    titles: [
      'Rowing team wins by {number} lengths',
      'Theatre returns with {play} {day}',
      'Cricket: {number} runs, one lost ball and a draw',
      'Festival celebrates {thing} at {place}',
      'The choir loses its voice, and finds another',
    ],
    sentences: [
      'The match was the best of the season, said the captain.',
      'The band played {number} songs on a stage made of hay.',
      'Tickets for {play} are sold at {place}.',
      'The league meets again {day}.',
    ],
    gaps: gaps({
      play: ['The Miller’s Daughter', 'Twelfth Night', 'a play about bees', 'Café Müller'],
      thing: ['bread', 'brass bands', 'the first apples', 'paper boats'],
    }),
  },
  sister: {
    titles: ['姉妹都市から{thing}が届く', '{place}で{thing}の祭り', '{number}人の生徒が村を訪問'],
    sentences: ['{place}に{number}人が集まった。', '来月、{thing}の交流が始まる。', '村の図書館で展示される。'],
    gaps: {
      place: ['港', '駅前', '公園', '学校'],
      thing: ['桜', '紙の船', '手紙', 'お茶'],
      number: ['三十', '百', '十二'],
    },
  },
} as const satisfies Record<string, Beat>

const AUTHORS = ['Desk', 'Night desk', 'Correspondent', 'Letters page']

/** The n-th story of a feed: the same whenever it is asked for. */
export function storyOf(beat: Beat, { site, n, publishedAt }: { site: string; n: number; publishedAt: Date }): Story {
  // Not of the port, which may be another one tomorrow.
  const name = `${new URL(site).pathname}/${n}`
  const pick = picker(name)
  const fill = (line: string): string => {
    const filled = line.replaceAll(/\{(\w+)\}/g, (_, gap: string) => pick(beat.gaps[gap] ?? [gap]))
    return filled.charAt(0).toUpperCase() + filled.slice(1)
  }
  const title = fill(pick(beat.titles))
  const first = pick(beat.sentences.map((_, i) => i))
  const body = [0, 1, 2].map((i) => fill(beat.sentences[(first + i) % beat.sentences.length] ?? title))
  return {
    guid: `tag:sandbox.example,2026:${name}`,
    url: `${site}/stories/${n}`,
    title,
    summary: body[0] ?? title,
    html: body.map((sentence) => `<p>${sentence}</p>`).join(''),
    author: pick(AUTHORS),
    publishedAt,
  }
}

/** Picks by a number that the text decides: stories must not change between two requests. */
function picker(seed: string): <Item>(items: readonly Item[]) => Item {
  let state = [...seed].reduce((sum, character) => (Math.imul(sum, 31) + character.charCodeAt(0)) >>> 0, 17)
  return (items) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return items[(state >>> 8) % items.length] as (typeof items)[number]
  }
}
