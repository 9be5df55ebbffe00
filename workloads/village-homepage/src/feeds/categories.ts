// How often a source is looked at unless it says so itself: by how fast its category moves (policy P2).

export const LEAST_INTERVAL_MINUTES = 15
export const MOST_INTERVAL_MINUTES = 1_440

export const DEFAULT_CATEGORY = 'General'

const BY_CATEGORY: Readonly<Record<string, number>> = {
  'Breaking News': 15,
  'Tech News': 60,
  'Analysis/Opinion': 360,
  'Sports/Entertainment': 60,
}
const OTHERWISE = 60

export const intervalOf = (category: string): number => BY_CATEGORY[category] ?? OTHERWISE
