#!/bin/bash
#SBATCH --job-name=large
#SBATCH --account=chem
#SBATCH --nodes=1
#SBATCH --ntasks=20
#SBATCH --time=1:00:00
srun ./large
