// The tenants of the demo: shops that send their parcels with Fernwick. All of them are invented.

export interface Shop {
  readonly name: string
  /** How much it sends, against the others. */
  readonly size: number
  readonly weight?: number
  readonly minSlots?: number
  readonly maxSlots?: number
}

/** In the last day and a half it imports its whole catalogue and writes to all of its customers. */
export const NOISY = 'thistle-and-twine'
/** Suspended since yesterday. */
export const SUSPENDED = 'moss-lane-records'
/** Its name is as hostile as a tenant's name may be. */
export const HOSTILE = 'Ünïcode & <b>Söhne</b>'

const REGULARS = [
  'amber-kiln',
  'birch-and-bone',
  'blue-heron-books',
  'candlewick-row',
  'cedar-post',
  'cobalt-garden',
  'copper-kettle',
  'dovetail-toys',
  'early-light-tea',
  'fable-and-thread',
  'fieldstone-bikes',
  'foxglove-paper',
  'gable-end-lamps',
  'hollow-oak',
  'indigo-loom',
  'juniper-supply',
  'kestrel-hill',
  'lantern-street',
  'larkspur-home',
  'low-tide-surf',
  'maple-and-mill',
  'night-market',
  'old-harbour-rope',
  'paper-crane',
  'quarry-coffee',
  'redbrick-soap',
  'saltmarsh',
  'silver-birch-skis',
  'tin-whistle',
  'umber-studio',
  'velvet-anchor',
  'willow-and-wren',
  'yarrow-pantry',
]

export const SHOPS: readonly Shop[] = [
  { name: 'copper-kettle', size: 90, weight: 3 },
  { name: NOISY, size: 60, maxSlots: 12 },
  { name: 'blue-heron-books', size: 48, weight: 2 },
  { name: 'night-market', size: 36, minSlots: 1 },
  ...REGULARS.filter((name) => !['copper-kettle', 'blue-heron-books', 'night-market'].includes(name)).map(
    (name, place) => ({ name, size: 28 / (1 + place / 4) }),
  ),
  { name: SUSPENDED, size: 9 },
  { name: HOSTILE, size: 3 },
]
