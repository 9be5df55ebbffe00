import { type VillageOptions, villageHomepage } from './village.ts'

export { type VillageOptions, villageHomepage }
export default villageHomepage()
