import { testScenarios } from './scenario-suite.ts'

testScenarios('f03', 'f03b', 'f04', 'f20', 'f20b', 'f20c')
