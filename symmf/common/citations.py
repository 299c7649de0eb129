"""What to cite for a method, a solver or a data set: the one table of references."""

from __future__ import annotations

from dataclasses import dataclass

from symmf.common.validation import check_name


@dataclass(frozen=True, slots=True)
class Reference:
    """A publication, and the names in this package that stand on it.

    ``fields`` are those of BibTeX.
    """

    key: str
    kind: str
    names: tuple[str, ...]
    fields: dict[str, str]

    def bibtex(self) -> str:
        """Return the entry for a bibliography."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def citations(name: str) -> list[Reference]:
    """Return what to cite for a method, solver or data set, by its name.

    Examples
    --------
    >>> [reference.key for reference in citations("sym_hals")]
    ['zhu2018dropping', 'ang2019accelerating']
    """
    known = {known for reference in REFERENCES for known in reference.names}
    check_name("citation", name, sorted(known))
    return [reference for reference in REFERENCES if name in reference.names]


_ZHANG_LIU = "Zhang, Mengyuan and Liu, Kai"
_SIGNAL = "IEEE Transactions on Signal Processing"
_TEXT_DATA = "http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html"

REFERENCES = (
    Reference(
        "zhang2022rethinking",
        "inproceedings",
        (
            "symmf",
            "consensus",
            "projected_gradient",
            "columnwise",
            "eigen",
            "fixed_step",
        ),
        {
            "author": _ZHANG_LIU,
            "title": "Rethinking Symmetric Matrix Factorization: A More General and "
            "Better Clustering Perspective",
            "booktitle": "IEEE International Conference on Data Mining (ICDM)",
            "year": "2022",
            "doi": "10.48550/arXiv.2209.02528",
            "eprint": "2209.02528",
            "archiveprefix": "arXiv",
        },
    ),
    Reference(
        "eckart1936approximation",
        "article",
        ("eigen",),
        {
            "author": "Eckart, Carl and Young, Gale",
            "title": "The approximation of one matrix by another of lower rank",
            "journal": "Psychometrika",
            "volume": "1",
            "year": "1936",
        },
    ),
    Reference(
        "zhu2018dropping",
        "inproceedings",
        ("symhals", "sym_hals", "sym_anls"),
        {
            "author": "Zhu, Zhihui and Li, Xiao and Liu, Kai and Li, Qiuwei",
            "title": "Dropping symmetry for fast symmetric nonnegative matrix "
            "factorization",
            "booktitle": "Advances in Neural Information Processing Systems",
            "volume": "31",
            "year": "2018",
        },
    ),
    Reference(
        "ang2019accelerating",
        "article",
        ("symhals", "sym_hals", "nmf"),
        {
            "author": "Ang, Andersen Man Shun and Gillis, Nicolas",
            "title": "Accelerating nonnegative matrix factorization algorithms using "
            "extrapolation",
            "journal": "Neural Computation",
            "volume": "31",
            "year": "2019",
        },
    ),
    Reference(
        "kuang2015symnmf",
        "article",
        ("symnmf", "newton", "symnmf_anls"),
        {
            "author": "Kuang, Da and Yun, Sangwoon and Park, Haesun",
            "title": "{SymNMF}: nonnegative low-rank approximation of a similarity "
            "matrix for graph clustering",
            "journal": "Journal of Global Optimization",
            "volume": "62",
            "year": "2015",
        },
    ),
    Reference(
        "lu2017nonconvex",
        "article",
        ("admm",),
        {
            "author": "Lu, Songtao and Hong, Mingyi and Wang, Zhengdao",
            "title": "A nonconvex splitting method for symmetric nonnegative matrix "
            "factorization: convergence analysis and optimality",
            "journal": _SIGNAL,
            "volume": "65",
            "year": "2017",
        },
    ),
    Reference(
        "huang2014nonnegative",
        "article",
        ("snmf", "procrustes"),
        {
            "author": "Huang, Kejun and Sidiropoulos, Nicholas D. and Swami, Ananthram",
            "title": "Non-negative matrix factorization revisited: uniqueness and "
            "algorithm for symmetric decomposition",
            "journal": _SIGNAL,
            "volume": "62",
            "year": "2014",
        },
    ),
    Reference(
        "vandaele2016efficient",
        "article",
        ("coordinate_descent",),
        {
            "author": "Vandaele, Arnaud and Gillis, Nicolas and Lei, Qi and Zhong, Kai "
            "and Dhillon, Inderjit",
            "title": "Efficient and non-convex coordinate descent for symmetric "
            "nonnegative matrix factorization",
            "journal": _SIGNAL,
            "volume": "64",
            "year": "2016",
        },
    ),
    Reference(
        "shi2017inexact",
        "article",
        ("bsum",),
        {
            "author": "Shi, Qingjiang and Sun, Haoran and Lu, Songtao and Hong, Mingyi "
            "and Razaviyayn, Meisam",
            "title": "Inexact block coordinate descent methods for symmetric "
            "nonnegative matrix factorization",
            "journal": _SIGNAL,
            "volume": "65",
            "year": "2017",
        },
    ),
    Reference(
        "eswar2020distributed",
        "inproceedings",
        ("pgncg",),
        {
            "author": "Eswar, Srinivas and Hayashi, Koby and Ballard, Grey and Kannan, "
            "Ramakrishnan and Vuduc, Richard and Park, Haesun",
            "title": "Distributed-memory parallel symmetric nonnegative matrix "
            "factorization",
            "booktitle": "International Conference for High Performance Computing, "
            "Networking, Storage and Analysis (SC)",
            "year": "2020",
        },
    ),
    Reference(
        "swart2026snmpbb",
        "misc",
        ("snmpbb",),
        {
            "author": "Swart and Brust",
            "note": "Nonmonotone projected Barzilai-Borwein method ({SNMPBB})",
            "year": "2026",
            "eprint": "2606.02887",
            "archiveprefix": "arXiv",
        },
    ),
    Reference(
        "hayashi2025randomized",
        "article",
        ("pgncg", "low_rank"),
        {
            "author": "Hayashi, Koby and Aksoy, Sinan G. and Ballard, Grey and Park, "
            "Haesun",
            "title": "Randomized algorithms for symmetric nonnegative matrix "
            "factorization",
            "journal": "SIAM Journal on Matrix Analysis and Applications",
            "volume": "46",
            "year": "2025",
            "eprint": "2402.08134",
            "archiveprefix": "arXiv",
        },
    ),
    Reference(
        "kim2011fast",
        "article",
        ("nmf",),
        {
            "author": "Kim, Jingu and Park, Haesun",
            "title": "Fast nonnegative matrix factorization: an active-set-like method "
            "and comparisons",
            "journal": "SIAM Journal on Scientific Computing",
            "volume": "33",
            "year": "2011",
        },
    ),
    Reference(
        "cai2011graph",
        "article",
        ("gnmf",),
        {
            "author": "Cai, Deng and He, Xiaofei and Han, Jiawei and Huang, Thomas",
            "title": "Graph regularized nonnegative matrix factorization for data "
            "representation",
            "journal": "IEEE Transactions on Pattern Analysis and Machine Intelligence",
            "volume": "33",
            "year": "2011",
        },
    ),
    Reference(
        "ng2001spectral",
        "inproceedings",
        ("spectral",),
        {
            "author": "Ng, Andrew and Jordan, Michael and Weiss, Yair",
            "title": "On spectral clustering: analysis and an algorithm",
            "booktitle": "Advances in Neural Information Processing Systems",
            "volume": "14",
            "year": "2001",
        },
    ),
    Reference(
        "ji2017deep",
        "inproceedings",
        ("dsc",),
        {
            "author": "Ji, Pan and Zhang, Tong and Li, Hongdong and Salzmann, Mathieu "
            "and Reid, Ian",
            "title": "Deep subspace clustering networks",
            "booktitle": "Advances in Neural Information Processing Systems",
            "volume": "30",
            "year": "2017",
        },
    ),
    Reference(
        "lloyd1982least",
        "article",
        ("kmeans",),
        {
            "author": "Lloyd, Stuart",
            "title": "Least squares quantization in {PCM}",
            "journal": "IEEE Transactions on Information Theory",
            "volume": "28",
            "year": "1982",
        },
    ),
    Reference(
        "nene1996coil",
        "techreport",
        ("coil20",),
        {
            "author": "Nene, Sameer A. and Nayar, Shree K. and Murase, Hiroshi",
            "title": "Columbia Object Image Library ({COIL-20})",
            "institution": "Columbia University",
            "number": "CUCS-005-96",
            "year": "1996",
        },
    ),
    Reference(
        "krizhevsky2009learning",
        "techreport",
        ("cifar10",),
        {
            "author": "Krizhevsky, Alex",
            "title": "Learning multiple layers of features from tiny images",
            "institution": "University of Toronto",
            "year": "2009",
        },
    ),
    Reference(
        "lewis_reuters",
        "misc",
        ("reuters21578",),
        {
            "author": "Lewis, David D.",
            "title": "{Reuters-21578}, Distribution 1.0",
            "note": f"Counts by D. Cai, X. He and J. Han, {_TEXT_DATA}",
        },
    ),
    Reference(
        "ldc2001tdt2",
        "misc",
        ("tdt2",),
        {
            "author": "{Linguistic Data Consortium}",
            "title": "{TDT2} corpus ({LDC2001T57})",
            "note": f"Counts by D. Cai, X. He and J. Han, {_TEXT_DATA}",
        },
    ),
    Reference(
        "alpaydin1998optical",
        "misc",
        ("digits",),
        {
            "author": "Alpaydin, Ethem and Kaynak, Cenk",
            "title": "Optical recognition of handwritten digits",
            "howpublished": "UCI Machine Learning Repository",
            "year": "1998",
        },
    ),
    Reference(
        "gagolewski2022benchmark",
        "misc",
        ("clustbench",),
        {
            "author": "Gagolewski, Marek and others",
            "title": "A benchmark suite for clustering algorithms: Version 1.1.0",
            "year": "2022",
            "doi": "10.5281/zenodo.7088171",
        },
    ),
)
