// The structures of what only the whole library has; see layout.js.

export const poseOptions = {
  size: 16,
  init: 'sdm_pose_options_init',
  fields: { refineSteps: [4, 'i'], outlierPixels: [8, 'd'] },
};

export const problem = {
  size: 32,
  init: 'sdm_problem_init',
  fields: { states: [4, 'i'], features: [8, 'i'], h: [12, 'p'], user: [24, 'u'], block: [28, 'i'] },
};

export const solveOptions = {
  size: 32,
  init: 'sdm_solve_options_init',
  fields: { confidence: [8, 'd'], refine: [16, 'i'], furtherStarts: [20, 'i'], threads: [24, 'i'] },
};

export const learnOptions = {
  size: 104,
  init: 'sdm_learn_options_init',
  fields: {
    lower: [4, 'p'],
    upper: [8, 'p'],
    log: [12, 'p'],
    noise: [16, 'i'],
    sigma: [20, 'p'],
    sigmaCount: [24, 'i'],
    x0: [28, 'p'],
    samples: [32, 'l'],
    calibration: [40, 'l'],
    evaluations: [48, 'l'],
    seconds: [56, 'd'],
    maxStages: [64, 'i'],
    maxOrder: [68, 'i'],
    maxBits: [72, 'i'],
    maxComponents: [76, 'i'],
    seed: [80, 'L'],
    threads: [88, 'i'],
    progress: [92, 'p'],
    progressUser: [96, 'u'],
  },
};

export const trainOptions = {
  size: 48,
  init: 'sdm_train_options_init',
  fields: {
    stages: [4, 'i'],
    penalty: [8, 'd'],
    folds: [16, 'i'],
    online: [20, 'b'],
    seed: [24, 'L'],
    threads: [32, 'i'],
  },
};

export const rigidTrainOptions = {
  size: 56,
  init: 'sdm_rigid_train_options_init',
  fields: {
    motion: [4, 'i'],
    samples: [8, 'l'],
    stages: [16, 'i'],
    search: [24, 'd'],
    scan: [32, 'b'],
    seed: [40, 'L'],
    threads: [48, 'i'],
  },
};

export const poseTrainOptions = {
  size: 160,
  init: 'sdm_pose_train_options_init',
  fields: {
    fx: [8, 'd'],
    fy: [16, 'd'],
    cx: [24, 'd'],
    cy: [32, 'd'],
    centre: [40, 'd', 3],
    rotation: [64, 'd', 3],
    translation: [88, 'd', 3],
    noisePixels: [112, 'd'],
    stages: [120, 'i'],
    cells: [124, 'i'],
    samples: [128, 'l'],
    seed: [136, 'L'],
    threads: [144, 'i'],
  },
};
