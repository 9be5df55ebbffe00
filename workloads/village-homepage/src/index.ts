import { type VillageOptions, villageHomepage } from './village.ts'

export { type VillageOptions, villageHomepage }

export default villageHomepage({
  // Loaded only where it is started: production needs none of it.
  sandbox: async (parts, stands) => (await import('../sandbox/stand-in.ts')).startStandIn(parts, stands),
  tour: async (stop) => (await import('../sandbox/tour.ts')).tour(stop),
})
