// Which of the five queue colours a queue has. Contracts may declare any colour: the nearest of ours is taken, because ours are
// readable in every theme.
import { createContext, useContext } from 'react'

export type QueueColour = 'salmon' | 'blue' | 'lavender' | 'green' | 'yellow' | 'none'

/** Hues of the five on the colour wheel, in degrees. */
const HUES: readonly (readonly [QueueColour, number])[] = [
  ['salmon', 8],
  ['yellow', 48],
  ['green', 140],
  ['blue', 215],
  ['lavender', 270],
  ['salmon', 350],
]

const OWN: readonly string[] = ['salmon', 'blue', 'lavender', 'green', 'yellow']

/** Without a colour, or with one that has no hue such as 'grey': 'none'. */
export function queueColour(declared: string | null | undefined): QueueColour {
  if (!declared) return 'none'
  if (OWN.includes(declared)) return declared as QueueColour
  const hue = hueOf(asHex(declared))
  if (hue === null) return 'none'
  const away = (degrees: number) => Math.min(Math.abs(degrees - hue), 360 - Math.abs(degrees - hue))
  return HUES.reduce((best, next) => (away(next[1]) < away(best[1]) ? next : best), HUES[0] as (typeof HUES)[number])[0]
}

/** Browsers know every CSS name: a canvas says which colour it is. */
function asHex(name: string): string {
  if (name.startsWith('#')) return name
  const context = document.createElement('canvas').getContext('2d')
  if (context === null) return ''
  context.fillStyle = name
  return context.fillStyle
}

function hueOf(hex: string): number | null {
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(hex)?.[1]
  if (digits === undefined) return null
  const full = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ]
  const most = Math.max(red, green, blue)
  const spread = most - Math.min(red, green, blue)
  if (spread < 12) return null
  if (most === red) return (60 * ((green - blue) / spread) + 360) % 360
  return most === green ? 60 * ((blue - red) / spread) + 120 : 60 * ((red - green) / spread) + 240
}

const ColoursContext = createContext<ReadonlyMap<string, QueueColour>>(new Map())

/** Gives the colours by the name of the queue, once, around the whole app. */
export const QueueColoursProvider = ColoursContext.Provider

/** The class that sets the colour for everything inside: 'c-salmon'. */
export const useQueueClass = (queue: string): string => `c-${useContext(ColoursContext).get(queue) ?? 'none'}`
